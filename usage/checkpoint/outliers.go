package checkpoint

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// packOutliers returns the message of the outliers of a history; nil without any.
func packOutliers(s *history.State) *storedv2.Outliers {
	var o *storedv2.Outliers
	for _, id := range slices.Sorted(maps.Keys(s.Windows)) {
		own, outlier := s.Windows[id].Peaks()
		if !outlier {
			continue
		}
		if o == nil {
			o = &storedv2.Outliers{}
		}
		o.Ids = appendID(o.Ids, id)
		o.Days = append(o.Days, own.Last)
		for _, code := range own.Codes {
			o.Peaks = append(o.Peaks, uint32(code))
		}
	}
	return o
}

// unpackOutliers adds the outliers of a message, which may be nil, to a history.
func unpackOutliers(o *storedv2.Outliers, s *history.State) error {
	for i := range len(o.GetIds()) / history.IDBytes {
		var own history.Days
		if len(o.Days) <= i || len(o.Peaks) < (i+1)*len(own.Codes) || o.Days[i] < 0 {
			return errIncomplete
		}
		own.Last = o.Days[i]
		for k := range own.Codes {
			own.Codes[k] = uint16(min(o.Peaks[i*len(own.Codes)+k], math.MaxUint16))
		}
		if w := s.Windows[idAt(o.Ids, i)]; w != nil {
			w.SetPeaks(own)
		}
	}
	return nil
}

// appendID appends the bytes of an ID.
func appendID(b []byte, id history.PodID) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(id))[:len(b)+history.IDBytes]
}

// idAt returns the i-th ID.
func idAt(b []byte, i int) history.PodID {
	var id [8]byte
	copy(id[:history.IDBytes], b[i*history.IDBytes:])
	return history.PodID(binary.LittleEndian.Uint64(id[:]))
}
