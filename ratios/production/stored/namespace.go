package stored

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// mostNamespaces is how many namespaces are stored: those with the most workloads. It keeps the stored form small. The namespaces of other
// workloads are not known until their next hour.
const mostNamespaces = 1000

// appendNamespaces appends the namespaces, and returns their numbers, of which 0 stands for none. Those with more workloads have smaller
// numbers, which need fewer bytes.
func appendNamespaces(b []byte, e *evidence.Evidence) ([]byte, map[evidence.Key]int) {
	counts := map[evidence.Key]int{}
	for _, w := range e.Workloads {
		if w.Namespace != 0 {
			counts[w.Namespace]++
		}
	}
	keys := sorted(counts)
	slices.SortStableFunc(keys, func(a, b evidence.Key) int { return cmp.Compare(counts[b], counts[a]) })
	keys = keys[:min(len(keys), mostNamespaces)]
	b = binary.AppendUvarint(b, uint64(len(keys)))
	numbers := make(map[evidence.Key]int, len(keys))
	for i, key := range keys {
		b = binary.LittleEndian.AppendUint64(b, uint64(key))
		numbers[key] = i + 1
	}
	return b, numbers
}

// namespaces returns the namespaces that numbers stand for. The first stands for none.
func (in *input) namespaces() []evidence.Key {
	keys := []evidence.Key{0}
	if in.version == oldestVersion {
		return keys
	}
	for range in.number(mostNamespaces + 1) {
		key := evidence.Key(in.key())
		if in.err == nil && slices.Contains(keys, key) {
			in.fail(errors.New("it has a namespace twice"))
		}
		keys = append(keys, key)
	}
	return keys
}

// namespace returns the namespace of a workload.
func (in *input) namespace(keys []evidence.Key) evidence.Key {
	if in.version == oldestVersion {
		return 0
	}
	return keys[in.number(uint64(len(keys)))]
}
