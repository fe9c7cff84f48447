package demand

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// harms are pods that have shown a kill or a revert since the last publication: the next pod of a Job must not begin with a
// size that is known to be too small.
type harms struct {
	mu   sync.Mutex
	pods []*pod.Pod
	broadcast.Broadcast
}

// note notes a pod that shows a kill or a revert that it did not show before; before is nil for a new pod.
func (h *harms) note(before, now *pod.Pod) {
	if now == nil || before != nil && slices.Equal(before.Kills(), now.Kills()) && slices.Equal(before.Reverts(), now.Reverts()) ||
		len(now.Kills())+len(now.Reverts()) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pods = append(h.pods, now)
	h.Notify()
}

// take returns the pods, and forgets them.
func (h *harms) take() []*pod.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.pods
	h.pods = nil
	return all
}

// wait waits until no more changes are likely that follow the first one. It returns false if ctx is done.
func (d *Demands) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-d.Clock.After(calm):
		return true
	}
}

// countHarm counts the kills and the reverts that a pod shows. The store knows those that it has counted, and pods show them
// for as long as they exist. So each replica counts them: what the leader stores may be known to others only minutes later.
func (d *Demands) countHarm(ctx context.Context, p *pod.Pod, now time.Time) {
	d.countReverts(ctx, p)
	if kills := p.Kills(); len(kills) > 0 {
		d.countKills(ctx, &killed{name: p.NamespacedName(), uid: string(p.UID), kills: kills}, now)
	}
}

// countKills counts the kills of a pod.
func (d *Demands) countKills(ctx context.Context, of *killed, now time.Time) {
	if identity, known := d.Lookup(of.name.Namespace, of.name.Name, of.uid); !known || identity.Workload == (usage.Workload{}) {
		return
	}
	for _, k := range of.kills {
		kill := history.Kill{Pod: history.Pod{UID: of.uid}, At: k.At, Limit: k.Limit, Request: k.Request, Usage: k.Used}
		if err := d.store.Kill(of.name.Namespace, of.name.Name, k.Container, kill, now); err != nil {
			klog.FromContext(ctx).V(1).Info("Kill not counted", "pod", of.name, "container", k.Container, "why", fmt.Sprint(err))
		}
	}
}

// publishHarms publishes what the containers need that were killed, or whose resize was reverted, since the last
// publication. Everything else stays as it is until the next one.
func (d *Demands) publishHarms(ctx context.Context) {
	s, now := d.survey.Load(), d.Clock.Now()
	harmed := map[history.Container]bool{}
	for _, p := range d.harms.take() {
		w, ok := d.workloadOf(p)
		if !ok || s.table == nil {
			continue
		}
		d.countHarm(ctx, p, now)
		for _, k := range p.Kills() {
			harmed[containerOf(w, k.Container)] = true
		}
		for _, r := range p.Reverts() {
			harmed[containerOf(w, r.Container)] = true
		}
	}
	published := d.needs.Load()
	if len(harmed) == 0 || published == nil {
		return
	}
	demands := d.store.Renew(harmed, func(c history.Container) []usage.Ratios { return s.ratios(c, d.store.Ratios(c)) }, now)
	of, moved := maps.Clone(*published), map[usage.Workload]bool{}
	modes := s.ruleModes()
	for c := range harmed {
		for _, set := range s.ratios(c, d.store.Ratios(c)) {
			key := usage.Key{Container: c, Ratios: set.Name}
			if r, known := demands.Demand(key); known {
				s.need(key, &r, modes, *published, of, moved)
			}
		}
	}
	d.put(of, moved)
}

// containerOf returns the key of a container of a workload.
func containerOf(w usage.Workload, name string) history.Container {
	return history.Container{Namespace: w.Namespace, Kind: w.Kind, Workload: w.Name, Name: name}
}
