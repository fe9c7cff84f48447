package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func at[T any](a arbitrary, all ...T) T { return all[a.IntN(len(all))] }

func (a arbitrary) smallPod() *corev1.Pod {
	sizes := [][4]string{{"1", "2", "1Gi", "2Gi"}, {"1", "1", "1Gi", "1Gi"}, {"500m", "", "512Mi", ""}, {"1", "2", "1.1Gi", "2.3Gi"}, {"100m", "1", "", ""}, {"2", "4", "2Gi", "2Gi"}}
	pick := sizes[a.IntN(len(sizes))]
	p := podtest.Pod(podtest.Amounts{pick[0], pick[1], pick[2], pick[3]}, podtest.AsCreated)
	if a.oneIn(2) {
		other := sizes[a.IntN(len(sizes))]
		podtest.WithSecond(podtest.Amounts{other[0], other[1], other[2], other[3]})(p)
	}
	p.Status.QOSClass = classOf(p)
	return p
}

// settings returns settings of the guard, and the keys of those that are turned off.
func (a arbitrary) settings() keys.Partial[policy.Settings] {
	var g policy.Guard
	var off []string
	if a.oneIn(2) {
		g.MaxUnproven = at(a, intstr.FromString("30%"), intstr.FromString("50%"), policy.AllPods, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3))
	}
	if a.oneIn(3) {
		g.MaxChange = at(a, 0.1, 0.2, 0.5, 1)
	}
	if a.oneIn(6) {
		off = append(off, "guard.enabled")
	}
	if a.oneIn(6) {
		off = append(off, "guard.disruptionBudgets")
	}
	if a.oneIn(4) {
		g.Window = time.Duration(30+a.IntN(300)) * time.Second
		g.Unready = g.Window / 3
	}
	if a.oneIn(8) {
		days, _ := schedule.ParseDays("Mon-Sun")
		minute := a.IntN(1400)
		w, err := schedule.New(days, schedule.Clock(minute), schedule.Clock(minute+20), time.UTC)
		if err != nil {
			panic(err)
		}
		g.Schedule = schedule.Schedule{w}
	}
	settings := policy.Settings{Guard: g}
	if a.oneIn(2) {
		settings.Bounds = policy.Bounds{CPU: a.bounds(4000), Memory: a.bounds(4 << 30)}
	}
	return keys.Some(settings, off...)
}

func (a arbitrary) lifeTable(t testing.TB, settings keys.Partial[policy.Settings]) *ratios.Table {
	layer := &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{}, Settings: settings}
	for _, name := range nodeTypes {
		if name != "n2d" && a.oneIn(6) {
			continue
		}
		layer.Ratios[name] = ratios.Ratio{CPUPerf: at(a, 0.5, 0.8, 1, 1.25, 2, 3), MemoryPerf: at(a, 1, 1, 1, 0.7, 1.3, 2)}
	}
	layer.Ratios["n2d"] = ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
	if a.oneIn(3) {
		layer.MaxSpeedRatio = 2.5
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func (a arbitrary) lifeNode() *corev1.Node {
	n := podtest.Booted(at(a, "v1.36.0", "v1.36.0", "v1.33.4", "odd"), at(a, "b1", "b2"))
	n.Labels = podtest.Node(at(a, "n2d", "n4", "big", "slow", "unknown")).Labels
	if a.oneIn(12) {
		n.Labels = nil
	}
	n.Name = "node"
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(at(a, "600m", "1", "2", "8", "8", "64")), corev1.ResourceMemory: resource.MustParse(at(a, "600Mi", "1Gi", "3Gi", "32Gi", "32Gi"))}
	if a.oneIn(8) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}
	}
	return n
}

func (a arbitrary) lifeSnapshot(p *corev1.Pod, others []*corev1.Pod, table *ratios.Table, on *corev1.Node, now int) *Snapshot {
	of := pod.From(p)
	s := &Snapshot{Pod: of, Table: table, Around: safety.Surroundings{Room: node.Room{Node: on}}, Now: podtest.At(now)}
	if a.oneIn(20) {
		s.Around.Node = nil
	}
	if a.oneIn(25) {
		s.Now = time.Time{}
	}
	if !a.oneIn(6) {
		var siblings []*pod.Pod
		for _, o := range others {
			siblings = append(siblings, pod.From(o))
		}
		s.Siblings = func() []*pod.Pod { return siblings }
		s.NodeOf = func(*pod.Pod) *corev1.Node { return on }
		if a.oneIn(3) {
			n, allowed := a.IntN(3), a.IntN(3)
			s.Budgets = func() (all []workload.Limit) {
				for i := range n {
					all = append(all, workload.Limit{Name: fmt.Sprint("budget", i), Allowed: allowed, Pods: s.Siblings})
				}
				return all
			}
		}
	}
	if a.oneIn(4) {
		s.Around.Neighbors = node.Resources{CPU: a.Int64N(3000), Memory: a.Int64N(3 << 30)}
	}
	if a.oneIn(6) {
		kept := node.Resources{CPU: a.Int64N(3000), Memory: a.Int64N(3 << 30)}
		until := podtest.At(now + 100)
		s.Around.Kept = func() (node.Resources, time.Time) { return kept, until }
	}
	if a.oneIn(8) {
		s.Around.LimitRanges = []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer,
			Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourceMemory: resource.MustParse("1536Mi")},
			Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")}}}}}}
	}
	if a.oneIn(10) {
		s.Around.Infeasible = []string{podtest.StaticCPU}
		s.InfeasibleUntil = podtest.At(now + 1000)
	}
	if a.oneIn(10) {
		s.VPA = &safety.VPA{Name: "vpa", Active: a.oneIn(2), Boosts: a.oneIn(2), Policies: []safety.VPAPolicy{{Container: at(a, "*", "app", "second"), Off: a.oneIn(4), Resources: at(a, nil, []string{"memory"}, []string{"cpu"})}}}
	}
	if a.oneIn(6) {
		value := int32(50)
		hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "hpa"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{Metrics: []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &value}}}}}}
		s.Autoscalers = func() []*autoscalingv2.HorizontalPodAutoscaler { return []*autoscalingv2.HorizontalPodAutoscaler{hpa} }
	}
	if a.oneIn(12) {
		s.Degraded = &Stop{Reason: "a breaker is open"}
	}
	if a.oneIn(25) {
		s.Paused = &Stop{Reason: "paused"}
	}
	if a.oneIn(25) {
		s.Frozen = &Stop{Reason: "frozen"}
	}
	if a.oneIn(10) {
		s.Restore, s.Emergency = true, a.oneIn(3)
	}
	s.Settled, s.InTheEnd = a.oneIn(12), a.oneIn(12)
	if a.oneIn(15) {
		s.Imagine(at(a, nodeTypes...))
	}
	if a.oneIn(3) {
		fared := guard.Fared{}
		s.Signals = guard.Signals{Of: func(string) guard.Fared { return fared }, Unknown: at(a, "", "no source")}
	}
	return s
}

// demand returns what usage says about a pod.
func (a arbitrary) demand(now int) need.Demand {
	r := rules()
	r.Updates.Separate, r.Updates.InUse, r.Updates.AnyKill = a.oneIn(2), a.oneIn(2), a.oneIn(2)
	r.Updates.DecreaseCPU, r.Updates.DecreaseLimit, r.Updates.After = at(a, 0, time.Minute, time.Hour), at(a, 0, time.Minute), at(a, 0, time.Minute)
	r.Limits.CPU, r.Limits.Memory = at(a, need.Follow, need.Keep, need.None), at(a, need.Follow, need.Keep, need.Multiple, need.Peak)
	recommended := func(unit int64) need.Recommendation {
		lower := unit * a.Int64N(1500)
		target := lower + unit*a.Int64N(300)
		return need.Recommendation{Target: target, Lower: lower, Upper: target + unit*a.Int64N(600), Max: at(a, 0, 0, 1000*unit), Peak: at(a, 0, target, 4*target), Keeps: at(a, "", "", "too little is known"), KeepsLimit: at(a, "", "no peaks"), Rules: r}
	}
	d := &shown{needs: map[string]*need.Container{}, uses: at(a, 0, a.Int64N(2<<30)), peak: at(a, 0, a.Int64N(3<<30))}
	for _, name := range []string{"app", "second"} {
		if !a.oneIn(4) {
			d.needs[name] = &need.Container{CPU: recommended(1), Memory: recommended(mib)}
		}
	}
	if a.oneIn(2) {
		d.resized = need.Resized{podtest.At(now - a.IntN(200)), podtest.At(now - a.IntN(200))}
	}
	return d
}

// TestLives plans pods to which everything may happen, in random order: they are sized, restored, killed and refused,
// others change them, ratios, nodes and surroundings change, and each action may be the last one of a process. No stage
// changes the draft that it judges, and the same snapshot gives the same plan.
func TestLives(t *testing.T) {
	const lives = 300
	kinds := map[string]int{}
	for seed := range lives {
		a := arbitrary{rand.New(rand.NewPCG(uint64(seed), 77))}
		usage := arbitrary{rand.New(rand.NewPCG(uint64(seed), 78))}
		g := a.settings()
		starts := arbitrary{rand.New(rand.NewPCG(uint64(seed), 79))}
		boosts := starts.oneIn(2)
		if boosts {
			g = keys.Some(policy.Settings{Startup: policy.Startup{CPU: at(starts, times(3), sizing.Boost{More: 500}), AfterReady: at(starts, 0, time.Minute), AtMost: at(starts, time.Minute, time.Hour)}}).Over(g)
		}
		table, node := a.lifeTable(t, g), a.lifeNode()
		template := a.smallPod()
		var pods []*corev1.Pod
		for i := range 1 + a.IntN(6) {
			p := template.DeepCopy()
			p.Name, p.UID = fmt.Sprint("pod", i), types.UID(fmt.Sprint("uid", i))
			start := metav1.NewTime(podtest.At(-a.IntN(3) * 400))
			p.Status.StartTime = &start
			if boosts {
				p.CreationTimestamp = start // When it began matters for its boost.
			}
			for k := range p.Spec.Containers {
				c := &p.Spec.Containers[k]
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Ready: true, ContainerID: "containerd://1",
					State:     corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}},
					Resources: c.Resources.DeepCopy(), AllocatedResources: c.Resources.Requests})
			}
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start})
			pods = append(pods, p)
		}
		calm := seed%3 != 0
		planner := Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(3), KeepMemoryLimits: a.oneIn(8), External: Externals[a.IntN(3)]}
		now := 10
		var refused *Refusal
		var failed *Failure
		for range 25 {
			now += 1 + a.IntN(map[bool]int{true: 25, false: 120}[calm])
			i := a.IntN(len(pods))
			p := pods[i]
			switch a.IntN(12) {
			case 0:
				if !calm || a.oneIn(4) {
					table = a.lifeTable(t, g)
				}
			case 1:
				if !calm || a.oneIn(3) {
					node = a.lifeNode()
				}
			case 2, 9, 10: // A kill.
				p = p.DeepCopy()
				status := &p.Status.ContainerStatuses[a.IntN(len(p.Status.ContainerStatuses))]
				status.RestartCount += int32(1 + a.IntN(3))
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: at(a, "OOMKilled", "Error"), ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(now))}
			case 3: // Readiness.
				p = p.DeepCopy()
				for k := range p.Status.Conditions {
					if c := &p.Status.Conditions[k]; c.Type == corev1.PodReady {
						c.Status, c.LastTransitionTime = at(a, corev1.ConditionTrue, corev1.ConditionFalse), metav1.NewTime(podtest.At(now))
					}
				}
			case 4: // The kubelet answers.
				p = p.DeepCopy()
				p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
					return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
				})
				switch a.IntN(5) {
				case 0:
					podtest.Said(corev1.PodResizePending, "Infeasible", p.Generation, now)(p)
					p.Status.Conditions[len(p.Status.Conditions)-1].Message = at(a, podtest.StaticCPU, "Node didn't have enough capacity: cpu, requested: 4, capacity: 2")
				case 1:
					podtest.Said(corev1.PodResizePending, "Deferred", p.Generation, now)(p)
				case 2:
					podtest.Said(corev1.PodResizeInProgress, at(a, "", "Error"), p.Generation, now)(p)
				}
			case 5: // The kubelet catches up, or not.
				p = p.DeepCopy()
				for k := range p.Spec.Containers {
					if a.oneIn(4) {
						continue
					}
					p.Status.ContainerStatuses[k].Resources, p.Status.ContainerStatuses[k].AllocatedResources = p.Spec.Containers[k].Resources.DeepCopy(), p.Spec.Containers[k].Resources.Requests
				}
			case 6: // Another actor.
				if a.oneIn(3) {
					q := p.DeepCopy()
					c := &q.Spec.Containers[a.IntN(len(q.Spec.Containers))]
					name := at(a, corev1.ResourceCPU, corev1.ResourceMemory)
					if request, ok := c.Resources.Requests[name]; ok {
						more := request.DeepCopy()
						more.Add(request)
						c.Resources.Requests[name] = more
						if limit, ok := c.Resources.Limits[name]; ok {
							limit.Add(request)
							c.Resources.Limits[name] = limit
						}
						if classOf(q) == classOf(p) {
							q.ManagedFields = owning(p, q, "operator", contract.ResizeSubresource, now)
							p = q
						}
					}
				}
			case 7:
				if a.oneIn(5) && len(p.Annotations) > 0 {
					q := p.DeepCopy()
					keys := make([]string, 0)
					for k := range q.Annotations {
						keys = append(keys, k)
					}
					slices.Sort(keys)
					delete(q.Annotations, keys[a.IntN(len(keys))])
					q.ManagedFields = owning(p, q, "kubectl", "", now)
					p = q
				}
			case 8:
				if a.oneIn(6) {
					p = p.DeepCopy()
					p.Status.Phase = corev1.PodFailed
				}
			}
			s := a.lifeSnapshot(p, pods, table, node, now)
			if calm {
				s.NodeType, s.Frozen, s.Paused, s.Around.Node, s.Now, s.Settled, s.InTheEnd = "", nil, nil, node, podtest.At(now), false, false
				s.Restore = s.Restore && a.oneIn(4)
				if a.oneIn(3) {
					s.Siblings = nil
				}
			}
			if seed%2 == 0 && !usage.oneIn(3) {
				s.Demand = usage.demand(now)
			}
			s.Refused, s.Failed = nil, nil
			if refused != nil && a.oneIn(3) {
				s.Refused = refused
			}
			if failed != nil && a.oneIn(3) {
				s.Failed = failed
			}
			judged(t, &planner, s)
			plan := planner.Plan(s)
			if again := planner.Plan(s); told(again) != told(plan) {
				t.Fatalf("seed %d: planned as %s, and then as %s", seed, told(plan), told(again))
			}
			kinds[fmt.Sprint(plan.Kind, " ", plan.Decision)]++
			for _, r := range plan.Reasons {
				kinds[string(r.Code)]++
			}
			if plan.causedBy(ByDemand) {
				kinds["by demand"]++
			}
			if plan.causedBy(ByBoost) {
				kinds["by boost"]++
			}
			if s.Demand != nil && plan.classAfter(s.Pod) != plan.QOSClass {
				t.Fatalf("seed %d: the pod does not remain %s: %s", seed, plan.QOSClass, told(plan))
			}
			if plan.Kind == RevertRefused {
				refused = &Refusal{Reason: plan.Reasons[0], Wanted: plan.Wanted, Waiting: a.oneIn(2), Retry: a.oneIn(3)}
			}
			if plan.Decision == Resize && a.oneIn(4) {
				failed = &Failure{Plan: plan.Signature(), Reason: Reason{contract.ResizeFailed, "denied"}, Until: podtest.At(now + 300)}
				if a.oneIn(2) {
					if w, ok := plan.Note(failed.Reason, podtest.At(now)); ok {
						after := patched(t, p, plan.Patch(w, ""))
						after.ManagedFields = owning(p, after, contract.FieldManager, "", now)
						p = after
					}
				}
			} else if plan.Pending() && !a.oneIn(6) && s.NodeType == "" && !s.Now.IsZero() {
				p = partly(t, a, p, plan, now)
				if a.oneIn(2) {
					for k := range p.Spec.Containers {
						p.Status.ContainerStatuses[k].Resources, p.Status.ContainerStatuses[k].AllocatedResources = p.Spec.Containers[k].Resources.DeepCopy(), p.Spec.Containers[k].Resources.Requests
					}
				}
			}
			pods[i] = p
		}
	}
	for _, want := range []string{"0 aligned", "0 resize", "1 resize", "2 aligned", "2 resize", "3 resize", "3 skip", string(contract.Reverted), string(contract.RevertBlocked),
		string(contract.CanaryReverted), string(contract.DisruptionBudget), string(contract.NodeCapacity), string(contract.OutsideSchedule), "by demand", "by boost"} {
		if kinds[want] == 0 {
			t.Errorf("no plan is of kind, or because of, %s: %v", want, kinds)
		}
	}
}

// judged checks that no stage changes the draft that it judges.
func judged(t *testing.T, p *Planner, s *Snapshot) {
	t.Helper()
	d, stages := p.begin(s), sizingStages
	if s.Restore {
		d.Kind, d.Emergency, stages = Restore, s.Emergency, restoringStages
	}
	shown := func() string {
		return fmt.Sprintf("%+v %v %+v %+v %+v", told(d.Plan), d.state, d.parts, d.keep, d.proof)
	}
	for i := range stages {
		of := &stages[i]
		if d.state&of.in == 0 {
			continue
		}
		before := shown()
		v := of.judge(p, d, s)
		if after := shown(); after != before {
			t.Fatalf("stage %s changes the draft from %s to %s", of.name, before, after)
		}
		if v == nil {
			continue
		}
		for _, r := range append([]Reason{v.skip, v.first}, v.reasons...) {
			known := r.Code == "" || v.becomes != nil || slices.Contains(of.reasons, r.Code)
			earlier := s.Refused != nil && r.Code == s.Refused.Reason.Code || s.Failed != nil && strings.Contains(r.Message, s.Failed.Reason.Message)
			inherited := slices.ContainsFunc(d.Reasons, func(o Reason) bool { return o.Code == r.Code })
			if !known && !earlier && !inherited {
				t.Errorf("stage %s gives the reason %v, which the table does not have", of.name, r)
			}
		}
		d.apply(of.name, v)
	}
}

// told returns what a plan says, for comparisons.
func told(p *Plan) string {
	return fmt.Sprintf("%v %v %+v %+v %d steps, %v %v %v %v %v", p.Kind, p.Decision, p.Reasons, p.Containers, len(p.Derivation), p.Claims, p.Partial, p.ReplanAt, p.Vetoed, p.Wanted)
}

// partly applies the actions of a plan, or the first ones.
func partly(t testing.TB, a arbitrary, p *corev1.Pod, plan *Plan, now int) *corev1.Pod {
	actions := actionsAt(plan, podtest.At(now))
	if a.oneIn(4) {
		actions = actions[:a.IntN(len(actions)+1)]
	}
	for _, w := range actions {
		if w.Step == StepClean {
			q := p.DeepCopy()
			for key := range q.Annotations {
				if plan.Removes(key) {
					delete(q.Annotations, key)
				}
			}
			q.ManagedFields = pod.WithoutResizes(q.ManagedFields)
			p = q
			continue
		}
		subresource := ""
		if w.Step.Resizes() {
			subresource = contract.ResizeSubresource
		}
		after := patched(t, p, plan.Patch(w, plan.ResourceVersion))
		after.ManagedFields = owning(p, after, contract.FieldManager, subresource, now)
		if w.Step.Resizes() {
			after.Generation++
		}
		p = after
	}
	return p
}
