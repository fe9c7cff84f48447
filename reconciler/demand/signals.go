package demand

import (
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// SignalUrgent looks at samples that have arrived before their source is read. Only an agent whose
// container is about to be killed sends samples of a few seconds. The read looks at the others, and at
// these again.
func (d *Demands) SignalUrgent(samples []usage.Sample) {
	for i := range samples {
		if samples[i].Length >= signal.Brief {
			continue
		}
		if p := d.podOf(&samples[i]); p != nil {
			d.signal(p, &samples[i])
		}
	}
}

// unobserved are the settings of pods whose resize cannot be observed: finding the rule of a pod takes longer
// than the rest.
var unobserved policy.Guard

// signal notes how a container fares. If the last resize may have made it worse, its pod is planned again.
func (d *Demands) signal(p *pod.Pod, sample *usage.Sample) {
	now := d.Clock.Now()
	if now.Sub(sample.At) > signal.Lately {
		return // A source may deliver days at its first read.
	}
	if sample.UID == "" && sample.At.Add(-sample.Length).Before(p.CreatedAt()) {
		return // It may be of an earlier pod with the name, as in a StatefulSet.
	}
	settings := &unobserved
	if table := d.Ratios.Table(); table != nil && guard.Observed(p, policy.LongestWindow, sample.At) {
		settings = &table.Profile(p).Guard
	}
	strain := strainOf(sample)
	if d.signals.Take(p, sample.Container, &strain, settings, now) || d.endangers(p, sample) {
		d.Cluster.Changed(p)
	}
}

// endangers reports whether a container whose size follows usage may be about to be killed for lack of memory, or uses more
// than its request of memory that it shares with its neighbors. Then its pod is planned now, and not only once its needs have
// moved.
func (d *Demands) endangers(p *pod.Pod, sample *usage.Sample) bool {
	if sample.Resource != history.Memory {
		return false
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Name() != sample.Container {
			continue
		}
		endangered := need.Endangered(sample.Usage, c.Spec.Memory.Limit)
		if !endangered && (sample.Usage <= c.Spec.Memory.Request || d.neighbors.Of(p.Node()) == nil) {
			return false // Nothing is shared, as by default.
		}
		table := d.Ratios.Table()
		w, ok := d.workloadOf(p)
		if table == nil || !ok || !d.survey.Load().workloads[w].applies(table.Profile(p).AppliesUsage()) {
			return false
		}
		shares := d.sharesMemory(p, w, c.Name(), table)
		if shares && d.NodeChanged != nil {
			d.NodeChanged(p.Node()) // It may not have room for that.
		}
		return endangered || shares
	}
	return false
}

// sharesMemory reports whether a container shares memory with its neighbors.
func (d *Demands) sharesMemory(p *pod.Pod, w usage.Workload, container string, table *ratios.Table) bool {
	published := d.needs.Load()
	if published == nil {
		return false
	}
	needs := (*published)[usage.Key{Container: containerOf(w, container), Ratios: table.Profile(p).Name}]
	return needs != nil && needs.Memory.Steady > 0
}

// strainOf returns how a container fared in the time of a sample.
func strainOf(sample *usage.Sample) signal.Sample {
	value := func(m usage.Value) guard.Value { return guard.Value{N: float64(m.N), Known: m.Known} }
	s := signal.Sample{At: sample.At, Length: sample.Length}
	if sample.Resource == history.CPU {
		s.Throttled, s.CPUPressure = value(sample.Strain.Throttled), value(sample.Strain.Pressure)
	} else {
		s.Memory, s.Charged = guard.Of(float64(sample.Usage)), value(sample.Strain.Charged)
		s.MemoryPressure, s.LimitEvents = value(sample.Strain.Pressure), value(sample.Strain.LimitEvents)
	}
	return s
}

// Signals returns how the containers of a pod fared before its last resize, and since then.
func (d *Demands) Signals(of *pod.Pod) guard.Signals {
	switch {
	case !d.Leads():
		return guard.Signals{Unknown: "only the replica that leads collects usage, and this one does not"}
	case !d.Collects():
		return guard.Signals{Unknown: "this replica leads, but has not read yet what earlier leaders have stored of usage, and collects none until then"}
	}
	return guard.Signals{Of: func(container string) guard.Fared { return d.signals.Of(of, container) }}
}
