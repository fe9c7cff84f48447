package workload

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Trial is the pods of a workload on which a smaller size is tried before the others get it: the
// canaries.
type Trial struct {
	// Pod is the pod that may get the size, on a node of type NodeType; empty if it may run on a node of any type.
	Pod      *pod.Pod
	NodeType string
	// Siblings are the pods of its workload on nodes of the type, of all versions. They may include the pod.
	Siblings []*pod.Pod
	Settings *policy.Guard
	Now      time.Time
	// Lot is a number from 0 up to 1 that was drawn for a pod that is being created, and 0 for others. Several such pods
	// may ask at the same time, and none of them is among the siblings yet.
	Lot float64
	// Corrects means that usage shows the size: pods of a size that is hardly larger have tried it, too. Recommendations
	// always move a little, and no deployment would end if each move were tried again.
	Corrects bool
}

// correction is by which share a size may be lowered that counts as tried nevertheless.
const correction = 0.2

// HardlyLowers reports whether a size is lowered by no more than a correction.
func HardlyLowers(has, to sizing.Amount) bool {
	near := func(has, to int64) bool { return float64(to) >= float64(has)*(1-correction) }
	return near(has.Request, to.Request) && (to.Limit == 0 || has.Limit != 0 && near(has.Limit, to.Limit))
}

// Unlimited is the number of places if a size has proven itself.
const Unlimited = math.MaxInt

// Wait says why a pod does not get a size yet.
type Wait struct {
	Reason  contract.Reason
	Message string
	// Again is when to ask again.
	Again time.Time
}

// Places returns how many more pods of the workload may get a size now, this pod included: all if
// enough of them have proven the size on nodes of the type. If there is no place, it says why.
//
// A pod of a different version counts if its author wrote the same size, and the size made no pod of that version
// worse.
func (t *Trial) Places(container string, m *sizing.Measure, to sizing.Amount) (places int, why Wait) {
	if !t.Settings.LimitsUnproven() {
		return Unlimited, Wait{}
	}
	own := versionOf(t.Pod)
	if why = t.revertedIn(own, container, m, to); why.Reason != "" {
		return 0, why
	}
	pods, proven, trying := 1, 0, 0
	var again time.Time
	written, hurt := originalOf(t.Pod, container, m), t.hurt(container, m, to)
	for _, s := range t.Siblings {
		if s.UID == t.Pod.UID || !s.Lives() || originalOf(s, container, m) != written && versionOf(s) != own || len(hurt) > 0 && hurt[versionOf(s)] {
			continue
		}
		pods++
		switch until, tries := t.triesUntil(s, container, m, to); {
		case !tries:
		case !t.Now.Before(until):
			proven++
		default:
			if trying++; again.IsZero() || until.Before(again) {
				again = until
			}
		}
	}
	canaries, on := t.Settings.Unproven(pods), ""
	if t.NodeType != "" {
		on = " on node type " + t.NodeType
	}
	switch places = canaries - proven - trying; {
	case proven >= canaries:
		return Unlimited, Wait{}
	case places > 0 && t.Lot < float64(canaries)/float64(pods):
		return places, Wait{}
	case places > 0:
		return 0, Wait{Reason: contract.WaitingForProof, Message: fmt.Sprintf("%s %s is tried first on about %d of the workload's %d pods%s, chosen by lot",
			m.Name, m.Show(to), canaries, pods, on)}
	}
	return 0, Wait{contract.WaitingForProof, fmt.Sprintf("%s %s is tried first on %d of the workload's %d pods%s, until %s or longer",
		m.Name, m.Show(to), canaries, pods, on, again.UTC().Format(time.RFC3339)), again}
}

// Reverted says why a pod must not get a size: it made another pod of the same version worse. It is zero if
// it did not. A new version may have corrected what made the size too small.
func (t *Trial) Reverted(container string, m *sizing.Measure, to sizing.Amount) (why Wait) {
	if !t.Settings.LimitsUnproven() {
		return Wait{}
	}
	return t.revertedIn(versionOf(t.Pod), container, m, to)
}

// hurt returns the versions of which a size made a pod worse.
func (t *Trial) hurt(container string, m *sizing.Measure, to sizing.Amount) map[version]bool {
	asked := map[version]bool{}
	for _, s := range t.Siblings {
		if !MayShowHarm(s) {
			continue
		}
		of := versionOf(s)
		if _, known := asked[of]; !known {
			asked[of] = t.revertedIn(of, container, m, to).Reason != ""
		}
	}
	return asked
}

// MayShowHarm reports whether a pod may show that a size made it worse. Few do, and all are asked for each pod.
func MayShowHarm(of *pod.Pod) bool { return len(of.Reverts()) > 0 || of.Phase() == corev1.PodFailed }

// revertedIn says which pod of a version a size made worse; it is zero if there is none.
func (t *Trial) revertedIn(of version, container string, m *sizing.Measure, to sizing.Amount) (why Wait) {
	var worse *pod.Pod
	var same []*pod.Pod
	for _, s := range t.Siblings {
		if MayShowHarm(s) && versionOf(s) == of {
			same = append(same, s)
		}
	}
	times := timesOf(same, container, m)
	for _, s := range same {
		// Siblings have no order, but plans of the same pod must be equal.
		if s.UID == t.Pod.UID || s.Terminating() || worse != nil && s.Name > worse.Name {
			continue
		}
		if found := t.failed(s, container, m, to, times); found.Reason != "" {
			worse, why = s, found
		}
	}
	return why
}

// timesOf returns how many sizes of a resource were reverted in pods so far: canaries of the same size count
// once. A pod records only the last size, and how many there were before.
func timesOf(pods []*pod.Pod, container string, m *sizing.Measure) (all int) {
	most := map[sizing.Amount]int{}
	for _, s := range pods {
		for _, r := range s.Reverts() {
			if r.Container == container && r.Measure == m {
				most[r.Hurt] = max(most[r.Hurt], min(r.Times, guard.MostDoublings+1))
			}
		}
	}
	for _, n := range most {
		all += n
	}
	return all
}

// failed says why a sibling shows that a size makes pods worse; it is empty if the sibling does not. times is how
// many sizes were reverted in the pods of its version.
func (t *Trial) failed(s *pod.Pod, container string, m *sizing.Measure, to sizing.Amount, times int) Wait {
	// The sibling may be gone by then.
	why := Wait{Reason: contract.CanaryReverted, Again: t.Now.Add(t.Settings.Cooldown)}
	for _, r := range s.Reverts() {
		if r.Container != container || r.Measure != m {
			continue
		}
		r.Times = times
		until, forbidden := guard.Forbids(&r, to, t.Settings.Cooldown, t.Now)
		if !forbidden {
			continue
		}
		is := "was reverted there"
		if has := sizeOf(s, container, m); has == r.Hurt {
			is = "is not reverted there yet"
		}
		why.Message = fmt.Sprintf("%s made pod %s worse and %s: %s (%s)", m.Show(r.Hurt), s.Name, is, r.Message, r.Harm)
		if !until.IsZero() {
			why.Message += fmt.Sprintf("; %s is tried at %s or later", m.Show(to), until.UTC().Format(time.RFC3339))
			if until.Before(why.Again) {
				why.Again = until
			}
		}
		return why
	}
	if has, at := ended(s, container, t.Settings.Window); m == sizing.Memory && has.Request != 0 && within(to, has) {
		why.Message = fmt.Sprintf("%s made pod %s fail: %s (%s)", m.Show(has), s.Name, guard.KillText(s, at), contract.OOMKilled)
		return why
	}
	return Wait{}
}

// sizeOf returns a size of a container; zero if there is no such container.
func sizeOf(of *pod.Pod, container string, m *sizing.Measure) (size sizing.Amount) {
	if c := containerOf(of, container); c != nil {
		size = *m.Of(&c.Spec)
	}
	return size
}

// originalOf returns the size of a container that its author wrote; zero if there is no such container, or as far
// as it is unknown.
func originalOf(of *pod.Pod, container string, m *sizing.Measure) (size sizing.Amount) {
	if c := containerOf(of, container); c != nil {
		size = *m.Of(&c.Original)
	}
	return size
}

// containerOf returns a container of a pod; nil if there is no such container.
func containerOf(of *pod.Pod, name string) *pod.Container {
	for i := range of.Containers {
		if c := &of.Containers[i]; c.Name() == name {
			return c
		}
	}
	return nil
}

// ended returns the memory that a failed pod had when it was killed for lack of memory while its resize was
// observed, and when that was; zero if it was not. A pod that does not restart its containers, as of a Job, ends
// before the resize can be reverted. Without a name, any container counts.
func ended(of *pod.Pod, container string, window time.Duration) (has sizing.Amount, at time.Time) {
	if of.Phase() != corev1.PodFailed || len(of.Kills()) == 0 || of.ResizedAt().IsZero() {
		return has, at
	}
	for _, change := range guard.Changes(of, window) {
		name := of.Containers[change.Index].Name()
		if change.Measure != sizing.Memory || !change.Lowers() || container != "" && name != container {
			continue
		}
		for _, kill := range of.Kills() {
			if kill.Container == name && kill.At.After(of.ResizedAt()) && kill.At.Before(guard.Until(of, window)) {
				return change.To, kill.At
			}
		}
	}
	return has, at
}

// triesUntil returns until when a sibling tries a size, or a smaller one, that a resize lowered a container
// to, and whether it does. A sibling shows nothing if its node has not made the resize by then, or if it is
// not ready: another pod tries the size instead.
func (t *Trial) triesUntil(s *pod.Pod, container string, m *sizing.Measure, to sizing.Amount) (until time.Time, tries bool) {
	for i := range s.Containers {
		c := &s.Containers[i]
		if c.Name() != container {
			continue
		}
		has := *m.Of(&c.Spec)
		if tried := within(has, to) || t.Corrects && HardlyLowers(has, to); !tried || !c.Resized() || !c.Standings[m.Index].Ours() {
			return time.Time{}, false
		}
		until = guard.Until(s, t.Settings.Window)
		for _, change := range guard.Changes(s, t.Settings.Window) {
			if change.Index == i && change.Measure == m && t.Settings.MaxChange < 1 && within(change.From, to) {
				return t.Now, true // It got the next smaller size because this one had proven itself.
			}
		}
		allocated := c.Allocated()
		ready, _ := s.Ready()
		return until, t.Now.Before(until) || ready && *m.Of(&allocated) == has
	}
	return time.Time{}, false
}

// within reports whether a size is at most as large as another.
func within(size, other sizing.Amount) bool {
	return size.Request <= other.Request && (other.Limit == 0 || size.Limit != 0 && size.Limit <= other.Limit)
}
