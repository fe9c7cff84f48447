package pod

import (
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Kill is the end of a container because of its memory.
type Kill struct {
	Container string
	At        time.Time
	// Limit is the limit at the kill: the one that the kubelet reports, or else the one in the
	// spec. It is 0 if there is none, and if it was changed since the kill: nothing shows the one
	// before.
	Limit int64
	// Request is the current request, from the same places; 0 if there is none.
	Request int64
	// Used is what the container used, if the kubelet evicted the pod and says so; otherwise 0.
	Used int64
	// Ran is how long the container had run; 0 if that is unknown.
	Ran time.Duration
}

// evictedUsing finds the containers in the kubelet's message about an eviction.
var evictedUsing = regexp.MustCompile(`Container (\S+) was using (\S+), request is \S+, has larger consumption of memory\.`)

// Kills returns the kills that the status of a pod shows: of the current and of the last state of
// each container, and of an eviction because of memory. The same kill is in the status until the
// container ends again.
func Kills(p *corev1.Pod) []Kill {
	return killsOf(p, entriesOf(p))
}

// killsOf is like Kills, with the entries of the pod's managedFields. They are read once: all containers of a pod may
// have been killed.
func killsOf(p *corev1.Pod, entries []entry) (kills []Kill) {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			for _, ended := range []*corev1.ContainerStateTerminated{s.LastTerminationState.Terminated, s.State.Terminated} {
				if ended != nil && ended.Reason == "OOMKilled" {
					kill := killOf(p, entries, s.Name, ended.FinishedAt.Time, 0)
					if !ended.StartedAt.IsZero() {
						kill.Ran = kill.At.Sub(ended.StartedAt.Time)
					}
					kills = append(kills, kill)
				}
			}
		}
	}
	if p.Status.Reason != "Evicted" {
		return kills
	}
	// The message may be any text: users may have the right to write the status of a pod.
	named := map[string]bool{}
	for _, found := range evictedUsing.FindAllStringSubmatch(p.Status.Message, len(p.Spec.Containers)+len(p.Spec.InitContainers)) {
		used, err := sizing.ParseMemory(found[2])
		if name := found[1]; err == nil && placeOf(p, name) >= 0 && !named[name] {
			named[name] = true
			kills = append(kills, killOf(p, entries, name, evictedAt(p), used))
		}
	}
	return kills
}

// placeOf returns the position of a container, init containers last, or -1.
func placeOf(p *corev1.Pod, name string) int {
	for i := range p.Spec.Containers {
		if p.Spec.Containers[i].Name == name {
			return i
		}
	}
	for i := range p.Spec.InitContainers {
		if p.Spec.InitContainers[i].Name == name {
			return len(p.Spec.Containers) + i
		}
	}
	return -1
}

// killOf returns a kill with the resources of its container.
func killOf(p *corev1.Pod, entries []entry, name string, at time.Time, used int64) Kill {
	k := Kill{Container: name, At: at, Used: used}
	set := func(r *corev1.ResourceRequirements) {
		k.Limit, k.Request = r.Limits.Memory().Value(), r.Requests.Memory().Value()
	}
	place := placeOf(p, name)
	if i := place - len(p.Spec.Containers); i >= 0 {
		set(&p.Spec.InitContainers[i].Resources)
	} else if place >= 0 {
		set(&p.Spec.Containers[place].Resources)
	}
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == name && statuses[i].Resources != nil {
				set(statuses[i].Resources)
			}
		}
	}
	if place >= 0 && resizedSince(entries, place, contract.MemoryLimit, at) {
		k.Limit = 0
	}
	return k
}

// resizedSince reports whether an amount of the i-th container may have changed since a time. A manager
// that changes an amount takes it from all others, but the time of its entry may be that of a
// later change to a different amount.
func resizedSince(entries []entry, i int, which contract.Original, at time.Time) bool {
	return slices.ContainsFunc(entries, func(e entry) bool {
		return (e.resize || e.anybodys()) && e.setsAmount(i, which) && e.seconds >= at.Unix()
	})
}

// evictedAt returns when a pod was evicted: when its condition DisruptionTarget became true, or
// else when its last container ended. It is the zero time if neither is known.
func evictedAt(p *corev1.Pod) (at time.Time) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	for _, s := range p.Status.ContainerStatuses {
		if ended := s.State.Terminated; ended != nil && ended.FinishedAt.After(at) {
			at = ended.FinishedAt.Time
		}
	}
	return at
}
