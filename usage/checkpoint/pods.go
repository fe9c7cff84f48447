package checkpoint

import (
	"errors"
	"maps"
	"slices"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// packPods returns the message of the windows of a history.
func packPods(s *history.State) *storedv2.Pods {
	p := &storedv2.Pods{}
	for _, id := range slices.Sorted(maps.Keys(s.Windows)) {
		w := s.Windows[id]
		of, _ := s.Find(w.NodeType)
		p.Ids = appendID(p.Ids, id)
		p.NodeTypes = append(p.NodeTypes, uint32(of))
		p.MemoryTime = append(p.MemoryTime, packTime(w.Memory, s.Types[of].Heard))
		p.EndTime = append(p.EndTime, packTime(w.End, w.Memory))
		p.PeakBytes = append(p.PeakBytes, packBytes(w.Peak))
		p.KillPeakBytes = append(p.KillPeakBytes, packBytes(w.KillPeak))
		p.PastEndTime = append(p.PastEndTime, packTime(w.Past.End, w.End))
		p.PastPeakBytes = append(p.PastPeakBytes, packBytes(w.Past.Peak))
		p.PastKillPeakBytes = append(p.PastKillPeakBytes, packBytes(w.Past.KillPeak))
		p.KilledTime = append(p.KilledTime, packTime(w.Killed, w.Memory))
		p.Sources = append(p.Sources, uint32(len(w.CPU)))
		for _, c := range w.CPU {
			p.UntilTime = append(p.UntilTime, packTime(c.Until, w.Memory))
			p.FromTime = append(p.FromTime, packTime(c.From, w.End))
			p.HoleUntilTime = append(p.HoleUntilTime, packTime(c.Hole.Until, c.Until))
			p.HoleFromTime = append(p.HoleFromTime, packTime(c.Hole.From, c.Hole.Until))
		}
	}
	return p
}

// errIncomplete means that a field does not have all of its values: one for each pod, or each hour of the week.
var errIncomplete = errors.New("a field is not complete")

// unpackPods adds the windows of a message, which may be nil, to a history.
func unpackPods(p *storedv2.Pods, s *history.State) error {
	pods, source := len(p.GetIds())/history.IDBytes, 0
	s.Windows = make(map[history.PodID]*history.Window, pods)
	if pods > 0 && pods > min(len(p.NodeTypes), len(p.MemoryTime), len(p.EndTime), len(p.PeakBytes), len(p.KillPeakBytes),
		len(p.PastEndTime), len(p.PastPeakBytes), len(p.PastKillPeakBytes), len(p.KilledTime), len(p.Sources)) {
		return errIncomplete
	}
	for i := range pods {
		of, sources := int(p.NodeTypes[i]), int(p.Sources[i])
		if of >= len(s.Types) || sources > min(len(p.UntilTime), len(p.FromTime), len(p.HoleUntilTime), len(p.HoleFromTime))-source {
			return errIncomplete
		}
		w := &history.Window{NodeType: s.Types[of].NodeType, CPU: make([]history.Progress, sources)}
		w.Memory = unpackTime(p.MemoryTime[i], s.Types[of].Heard)
		w.End, w.Peak, w.KillPeak = unpackTime(p.EndTime[i], w.Memory), unpackBytes(p.PeakBytes[i]), unpackBytes(p.KillPeakBytes[i])
		w.Past.End, w.Past.Peak, w.Past.KillPeak = unpackTime(p.PastEndTime[i], w.End), unpackBytes(p.PastPeakBytes[i]), unpackBytes(p.PastKillPeakBytes[i])
		w.Killed = unpackTime(p.KilledTime[i], w.Memory)
		for rank := range w.CPU {
			c := &w.CPU[rank]
			c.Until, c.From = unpackTime(p.UntilTime[source], w.Memory), unpackTime(p.FromTime[source], w.End)
			c.Hole.Until = unpackTime(p.HoleUntilTime[source], c.Until)
			c.Hole.From = unpackTime(p.HoleFromTime[source], c.Hole.Until)
			source++
		}
		s.Windows[idAt(p.Ids, i)] = w
	}
	return nil
}
