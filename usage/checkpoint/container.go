package checkpoint

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// container is what is stored of a container.
type container struct {
	history.Container
	// ratios are the names of the sets of ratios under which it was last recommended.
	ratios []string
	*history.State
}

// append appends the form of the container to b.
func (c *container) append(b []byte) ([]byte, error) {
	var newest time.Time
	for _, s := range c.Types {
		if s.Heard.After(newest) {
			newest = s.Heard
		}
	}
	m := &storedv2.Container{
		Namespace: c.Namespace, Kind: c.Kind, Workload: c.Workload, Name: c.Name, RatioSets: c.ratios,
		CpuHalfLifeNanos: int64(c.Shapes.CPU.HalfLife), MemoryHalfLifeNanos: int64(c.Shapes.Memory.HalfLife),
		NewestNanos: nanos(newest), Pods: packPods(c.State), Outliers: packOutliers(c.State), RanIds: packRan(c.State),
	}
	for _, s := range c.Types {
		m.NodeTypes = append(m.NodeTypes, packSeries(s, c.Shapes, newest))
	}
	if v := c.Version; v.Hash != 0 {
		m.Version = &storedv2.Version{Hash: v.Hash, SinceSeconds: packSeconds(v.Since)}
	}
	m.ProtoReflect().SetUnknown(c.Unknown)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("container %s of %s %s/%s: %w", c.Name, c.Kind, c.Namespace, c.Workload, err)
	}
	return b, nil
}

func packSeries(s *history.Series, shapes history.Shapes, newest time.Time) *storedv2.NodeType {
	m := &storedv2.NodeType{
		Name: s.NodeType, FirstTime: packTime(s.First, newest), LastTime: packTime(s.Last, newest),
		HeardTime: packTime(s.Heard, newest), Samples: int64(s.Samples), Cpu: packHistogram(&s.CPU, shapes.CPU.HalfLife),
		Memory: packHistogram(&s.Memory, shapes.Memory.HalfLife), Throttled: packHistogram(&s.Throttled, shapes.CPU.HalfLife),
		Pressed: packHistogram(s.Pressed, shapes.CPU.HalfLife), Floors: packFloors(s.Floors), Peaks: packPeaks(&s.Peaks), Runs: packRuns(s.Runs),
		Steady: packSteady(s.Steady, shapes),
	}
	for i, to := range []**storedv2.Hours{&m.CpuHours, &m.MemoryHours, &m.PeakHours} {
		if h := &s.Hours[i]; i == 0 || *h != s.Hours[i-1] {
			*to = &storedv2.Hours{FirstSeconds: h.First, LastHour: h.Last, Seen: h.Seen[:]}
		}
	}
	if s.Week != nil {
		m.Week = &storedv2.Week{}
		before := int64(0)
		for i, hour := range s.Week.Hour {
			m.Week.Hours = append(m.Week.Hours, hour-before)
			m.Week.CpuMillicores = append(m.Week.CpuMillicores, uint64(s.Week.CPU[i]))
			m.Week.MemoryBytes = append(m.Week.MemoryBytes, packBytes(s.Week.Memory[i]))
			before = hour
		}
	}
	m.ProtoReflect().SetUnknown(s.Unknown)
	return m
}

// leastType is less than what the bytes of a container have for each of its node types.
const leastType = 16

// errUnbounded means that a message would need far more memory than its bytes.
var errUnbounded = errors.New("a field is there too often")

// bounded returns an error if a message could take far more memory than its bytes. That is true of many messages
// that are next to empty. It is also true of a field whose numbers are in several places: for each of them, the
// decoder copies all numbers before.
func bounded(message []byte, of protoreflect.MessageDescriptor) error {
	seen, listed := uint64(0), 0
	err := eachField(message, func(number protowire.Number, _, value []byte) error {
		f := of.Fields().ByNumber(number)
		if f == nil {
			return nil
		}
		if !f.IsList() || f.IsPacked() {
			if seen>>number&1 != 0 {
				return errUnbounded
			}
			seen |= 1 << number
		}
		if f.Message() == nil {
			return nil
		}
		if f.IsList() {
			listed++
		}
		return bounded(value, f.Message())
	})
	if err == nil && listed*leastType > len(message) {
		err = errUnbounded
	}
	return err
}

// unpackContainer returns a container from its form.
func unpackContainer(form []byte) (c container, err error) {
	var m storedv2.Container
	if err = bounded(form, m.ProtoReflect().Descriptor()); err == nil {
		err = proto.Unmarshal(form, &m)
	}
	if err != nil {
		return c, fmt.Errorf("decode: %w", err)
	}
	c = container{
		Container: history.Container{Namespace: m.Namespace, Kind: m.Kind, Workload: m.Workload, Name: m.Name}, ratios: m.RatioSets,
		State: &history.State{
			Shapes:  history.ShapesOf(time.Duration(m.CpuHalfLifeNanos), time.Duration(m.MemoryHalfLifeNanos)),
			Unknown: m.ProtoReflect().GetUnknown(),
		},
	}
	if v := m.Version; v != nil {
		c.Version = history.Version{Hash: v.Hash, Since: unpackSeconds(v.SinceSeconds)}
	}
	for _, of := range m.NodeTypes {
		if of.CpuHours == nil { // An earlier version has stored the hours of all node types together.
			of.CpuHours, of.MemoryHours, of.PeakHours = m.CpuHours, m.MemoryHours, m.PeakHours
		}
		s, err := unpackSeries(of, c.Shapes, time.Unix(0, m.NewestNanos))
		if err != nil {
			return c, err
		}
		c.Types = append(c.Types, s)
	}
	if err := unpackPods(m.Pods, c.State); err != nil {
		return c, err
	}
	unpackRan(m.RanIds, c.State)
	return c, unpackOutliers(m.Outliers, c.State)
}

func unpackSeries(m *storedv2.NodeType, shapes history.Shapes, newest time.Time) (*history.Series, error) {
	s := &history.Series{
		NodeType: m.Name, First: unpackTime(m.FirstTime, newest), Last: unpackTime(m.LastTime, newest),
		Heard: unpackTime(m.HeardTime, newest), Samples: int(m.Samples), Unknown: m.ProtoReflect().GetUnknown(),
	}
	var errs [8]error
	s.CPU, errs[0] = unpackHistogram(m.Cpu, shapes.CPU)
	s.Memory, errs[1] = unpackHistogram(m.Memory, shapes.Memory)
	s.Throttled, errs[2] = unpackHistogram(m.Throttled, shapes.CPU)
	s.Floors, errs[4] = unpackFloors(m.Floors)
	s.Peaks, errs[5] = unpackPeaks(m.Peaks)
	s.Runs, errs[6] = unpackRuns(m.Runs)
	s.Steady, errs[7] = unpackSteady(m.Steady, shapes)
	if m.Pressed != nil {
		var pressed histogram.Histogram
		pressed, errs[3] = unpackHistogram(m.Pressed, shapes.CPU)
		s.Pressed = &pressed
	}
	for i, h := range []*storedv2.Hours{m.CpuHours, m.MemoryHours, m.PeakHours} {
		if to := &s.Hours[i]; h != nil {
			to.First, to.Last = h.FirstSeconds, h.LastHour
			copy(to.Seen[:], h.Seen)
		} else if i > 0 {
			*to = s.Hours[i-1]
		}
	}
	if w := m.Week; w != nil {
		if min(len(w.Hours), len(w.CpuMillicores), len(w.MemoryBytes)) < history.HoursOfWeek {
			return nil, errIncomplete
		}
		s.Week = &history.Week{}
		hour := int64(0)
		for i := range s.Week.Hour {
			hour += w.Hours[i]
			s.Week.Hour[i], s.Week.CPU[i], s.Week.Memory[i] = hour, int64(w.CpuMillicores[i]), unpackBytes(w.MemoryBytes[i])
		}
	}
	return s, errors.Join(errs[:]...)
}
