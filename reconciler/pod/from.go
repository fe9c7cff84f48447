package pod

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// From reads a pod from the API server, without keys that prove sizes at creation.
func From(object *corev1.Pod) *Pod { return FromProven(object, nil) }

// FromProven reads a pod from the API server. The keys prove which sizes the server gave it while it was being created.
func FromProven(object *corev1.Pod, keys *seal.Ring) *Pod {
	h, c := historyOf(object), admittedOf(object, keys)
	return from(object, &h, &c)
}

// Imagined reads a pod that does not exist yet, as if it ran and had never been resized: its
// spec is the original, regardless of its annotations.
func Imagined(object *corev1.Pod) *Pod {
	return BeingCreated(object, "", object.CreationTimestamp.Time)
}

// BeingCreated is like Imagined, for a pod that is created at this time; node is where it will run, empty if that is not known.
func BeingCreated(object *corev1.Pod, node string, now time.Time) *Pod {
	running := *object
	running.Spec.NodeName, running.CreationTimestamp = cmp.Or(node, somewhere), metav1.NewTime(now)
	running.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	h := asCreated()
	return from(&running, &h, &admitted{})
}

// somewhere is the node name of a pod that does not exist yet.
const somewhere = "imagined"

// computeClass is the node selector that computeClasses in the configuration match.
const computeClass = "cloud.google.com/compute-class"

func from(object *corev1.Pod, h *history, made *admitted) *Pod {
	meta, spec, status := &object.ObjectMeta, &object.Spec, &object.Status
	p := &Pod{
		Name: strings.Clone(meta.Name), UID: types.UID(strings.Clone(string(meta.UID))),
		namespace:   handleOf(meta.Namespace),
		node:        handleOf(spec.NodeName),
		appliedType: handleOf(strings.ToValidUTF8(meta.Annotations[contract.AppliedInstanceType], "\uFFFD")),
		appliedAt:   secondsIn(meta.Annotations[contract.AppliedAt]),
		createdAt:   secondsOf(meta.CreationTimestamp.Time),
		resizedAt:   h.ours,
		phase:       phase(max(0, slices.Index(phases[:], status.Phase))),
		class:       class(max(0, slices.Index(classes[:], status.QOSClass))),
	}
	p.startedAfter = uint32(min(max(0, startOf(status)-p.createdAt), math.MaxUint32))
	if h.annotatesSizes {
		p.appliedSizes = handleOf(strings.ToValidUTF8(meta.Annotations[contract.AppliedSizes], "\uFFFD"))
	}
	if h.annotatesSizes && h.annotatesDemand {
		p.appliedDemand = handleOf(strings.ToValidUTF8(meta.Annotations[contract.AppliedDemand], "\uFFFD"))
	}
	if made.decides() && h.ours == never {
		// Before its containers started, nothing showed how they fare.
		at := max(secondsOf(made.At), p.createdAt+int64(p.startedAfter))
		p.resizedAt, p.appliedAt, p.appliedSizes, p.appliedDemand = at, at, handleOf(made.Sizes), handleOf(made.Demand)
		p.flags |= sizedAtCreation
	}
	long := p.readTexts(meta)
	p.readMarks(object.Annotations)
	p.readContainers(object, h, made)
	p.template = p.templateOf(spec)
	p.readFlags(object, h)
	p.rare = p.rareOf(object, h, long)
	return p
}

// startOf returns when a pod started: when its last container started for the first time. Pulling images and running
// init containers may take much longer than a pod is new. As long as that is not known, or no longer, it is when the
// node accepted the pod.
func startOf(status *corev1.PodStatus) (seconds int64) {
	if status.StartTime != nil {
		seconds = secondsOf(status.StartTime.Time)
	}
	for i := range status.ContainerStatuses {
		if s := &status.ContainerStatuses[i]; s.State.Running != nil && s.RestartCount == 0 {
			seconds = max(seconds, secondsOf(s.State.Running.StartedAt.Time))
		}
	}
	return seconds
}

// readTexts reads the strings of the pod, and returns the annotation values that are shared
// because they are long.
func (p *Pod) readTexts(meta *metav1.ObjectMeta) []unique.Handle[string] {
	var w writer
	w.add(meta.ResourceVersion)
	owner := metav1.GetControllerOfNoCopy(meta)
	if owner == nil {
		owner = &metav1.OwnerReference{}
	}
	p.kind = handleOf(strings.ToValidUTF8(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind().String(), "\uFFFD"))
	w.add(owner.Name)
	w.add(string(owner.UID))
	p.texts.labelKeys, p.texts.labelsAt = w.addAll(meta.Labels, w.add, func(string) bool { return true })
	p.texts.annotationKeys, p.texts.annotationsAt = w.addAll(meta.Annotations, w.share, func(key string) bool { return !contract.Ours(key) })
	p.texts.values = string(w.values)
	return w.long
}

func (p *Pod) readContainers(object *corev1.Pod, h *history, made *admitted) {
	spec, status := &object.Spec, &object.Status
	o := newOriginals(&object.ObjectMeta, h, made)
	p.Containers = make([]Container, len(spec.Containers)+len(spec.InitContainers))
	for i := range spec.Containers {
		p.Containers[i].read(&spec.Containers[i], regular, statusOf(spec.Containers[i].Name, status.ContainerStatuses))
		o.fill(&p.Containers[i], i)
	}
	for k := range spec.InitContainers {
		i, c, of := len(spec.Containers)+k, &spec.InitContainers[k], initial
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			of = sidecar
		}
		p.Containers[i].read(c, of, statusOf(c.Name, status.InitContainerStatuses))
		if of == sidecar {
			o.fill(&p.Containers[i], i)
		}
	}
	p.readEnvironments(spec)
	if p.is(marked) {
		for i := range p.Containers {
			c := &p.Containers[i]
			for _, which := range contract.Originals {
				if _, ok := which.In(object.Annotations, c.Name()); ok {
					c.facts |= annotated
				}
			}
		}
	}
}

// read reads everything that does not depend on other containers.
func (c *Container) read(spec *corev1.Container, of kind, status *corev1.ContainerStatus) {
	c.name, c.kind, c.Spec = unique.Make(spec.Name), of, sizing.FromResources(spec.Resources)
	for _, policy := range spec.ResizePolicy {
		switch {
		case policy.RestartPolicy != corev1.RestartContainer:
		case policy.ResourceName == corev1.ResourceCPU:
			c.facts |= cpuRestarts
		case policy.ResourceName == corev1.ResourceMemory:
			c.facts |= memoryRestarts
		}
	}
	if spec.LivenessProbe != nil || spec.StartupProbe != nil {
		c.facts |= probed
	}
	if sizing.Fraction(spec.Resources.Requests[corev1.ResourceMemory]) {
		c.facts |= requestFraction
	}
	if sizing.Fraction(spec.Resources.Limits[corev1.ResourceMemory]) {
		c.facts |= limitFraction
	}
	if more(spec.Resources.Requests, c.Spec.CPU.Request, c.Spec.Memory.Request) || more(spec.Resources.Limits, c.Spec.CPU.Limit, c.Spec.Memory.Limit) {
		c.alter().requests, c.alter().limits = listOf(spec.Resources.Requests), listOf(spec.Resources.Limits)
	}
	c.readStatus(status)
	c.readRuntime(status)
	c.readRestarts(status)
}

// more reports whether a list contains more than amounts of cpu and memory above zero.
func more(list corev1.ResourceList, cpu, memory int64) bool {
	plain := 0
	for _, amount := range [...]int64{cpu, memory} {
		if amount > 0 {
			plain++
		}
	}
	return len(list) > plain
}

// listOf returns a list that is never nil, to distinguish an empty list from none.
func listOf(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}

// readMarks notes whether the pod has annotations of the reconciler, and whether they are
// all originals.
func (p *Pod) readMarks(annotations map[string]string) {
	ours, others := false, false
	for key := range annotations {
		if contract.Ours(key) {
			ours, others = true, others || !contract.IsOriginal(key)
		}
	}
	p.flags.set(marked, ours)
	p.flags.set(onlyOriginals, !others)
}

// systemCritical is the lowest priority of critical pods
// (scheduling.SystemCriticalPriority).
const systemCritical = 2_000_000_000

func (p *Pod) readFlags(object *corev1.Pod, h *history) {
	spec, status := &object.Spec, &object.Status
	f := &p.flags
	_, mirror := object.Annotations[corev1.MirrorPodAnnotationKey]
	_, says := object.Annotations[contract.AppliedInstanceType]
	_, answered := object.Annotations[contract.Infeasible]
	f.set(terminating, object.DeletionTimestamp != nil)
	f.set(cutShort, endedByDeletion(object))
	f.set(accepted, status.StartTime != nil || p.Phase() != corev1.PodPending)
	f.set(static, mirror)
	f.set(deadline, spec.ActiveDeadlineSeconds != nil && *spec.ActiveDeadlineSeconds >= 0)
	f.set(critical, spec.Priority != nil && *spec.Priority >= systemCritical)
	f.set(managedFieldsCut, h.cut)
	f.set(anybodyResized, h.anybody)
	f.set(applied, says)
	f.set(answers, answered)
	f.set(specUnseen, status.ObservedGeneration != 0 && status.ObservedGeneration < object.Generation)
	f.set(runsSpec, p.running())
	f.set(refusedForGood, refused(object))
	p.readLags(status)
	if c := readiness(object); c != nil {
		f.set(isReady, c.Status == corev1.ConditionTrue)
		p.readySince = secondsOf(c.LastTransitionTime.Time)
	}
}

// endedByDeletion reports whether a container ended after the deletion of its pod was requested. The API server gives a pod that
// has ended no grace period.
func endedByDeletion(object *corev1.Pod) bool {
	if object.DeletionTimestamp == nil {
		return false
	}
	grace := time.Duration(0)
	if seconds := object.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	requested := object.DeletionTimestamp.Add(-grace)
	return slices.ContainsFunc(object.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		ended := s.State.Terminated
		return ended != nil && (ended.FinishedAt.After(requested) || grace > 0 && ended.FinishedAt.Time.Equal(requested))
	})
}

func (p *Pod) rareOf(object *corev1.Pod, h *history, long []unique.Handle[string]) *rare {
	spec := &object.Spec
	r := rare{
		overhead:          sizing.FromResources(corev1.ResourceRequirements{Requests: spec.Overhead}),
		windows:           spec.OS != nil && spec.OS.Name == corev1.Windows || spec.NodeSelector[corev1.LabelOSStable] == string(corev1.Windows),
		claim:             claimOf(object),
		crossesNamespaces: crossesNamespaces(spec.Affinity),
		unsupported:       notReported(object.Status.ContainerStatuses),
		nearby:            nearbyOf(object),
		answer:            answerOf(object, h),
		conditions:        conditionsOf(object, p),
		kills:             killsOf(object, h.entries),
		reverts:           revertsOf(object, h),
		long:              long,
		originalsBy:       handleOf(h.vouched),
		priorityClass:     handleOf(spec.PriorityClassName),
		computeClass:      handleOf(spec.NodeSelector[computeClass]),
		unschedulable:     unschedulable(object),
	}
	if !h.annotatesSizes {
		r.theirAppliedSizes = strings.Clone(object.Annotations[contract.AppliedSizes])
	}
	if spec.Priority != nil {
		r.priority = *spec.Priority
	}
	if w := spec.Resources; w != nil {
		r.whole = &Whole{sizing.FromResources(*w), len(w.Requests)+len(w.Limits) > 0}
	}
	if reflect.ValueOf(r).IsZero() {
		return nil
	}
	return &r
}

// unschedulable returns when nodes began to lack room for a pod; never if it has a node, or may still get one.
func unschedulable(object *corev1.Pod) int64 {
	for i := range object.Status.Conditions {
		if c := &object.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && object.Spec.NodeName == "" {
			return secondsOf(c.LastTransitionTime.Time)
		}
	}
	return never
}

// claimOf describes the resource claim that the pod uses; empty if it uses none.
func claimOf(object *corev1.Pod) string {
	for _, containers := range [...][]corev1.Container{object.Spec.Containers, object.Spec.InitContainers} {
		for i := range containers {
			if claims := containers[i].Resources.Claims; len(claims) > 0 {
				return fmt.Sprintf("container %s uses resource claim %s", containers[i].Name, claims[0].Name)
			}
		}
	}
	if claims := object.Status.NodeAllocatableResourceClaimStatuses; len(claims) > 0 {
		return fmt.Sprintf("the pod uses resource claim %s for resources of its node", claims[0].ResourceClaimName)
	}
	return ""
}

// notReported returns the name of the first running container if the kubelet does not report
// its resources; otherwise "". A kubelet that can resize reports them. Like the API server,
// notReported checks only the first running container.
func notReported(statuses []corev1.ContainerStatus) string {
	for i := range statuses {
		if s := &statuses[i]; s.State.Running != nil {
			if s.Resources == nil {
				return s.Name
			}
			return ""
		}
	}
	return ""
}
