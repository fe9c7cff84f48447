package pod

import (
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Pod describes a pod as the reconciler knows it. It is immutable.
type Pod struct {
	// Name and UID have their own memory, because callers keep them longer than the Pod.
	Name string
	UID  types.UID
	// Containers are spec.containers, then spec.initContainers, in the order of the spec.
	Containers []Container

	// texts are strings that hardly any other pod has.
	texts texts

	namespace, node, appliedType unique.Handle[string]
	// kind is the kind and the group of the controller, as in Controller.GroupKind, and appliedSizes what our last resize
	// changed, which is usually the same for all pods of a workload.
	kind, appliedSizes   unique.Handle[string]
	appliedDemand        unique.Handle[string]
	template             uint64
	createdAt            int64
	resizedAt, appliedAt int64
	// readySince is when the pod became ready or not ready.
	readySince int64
	phase      phase
	class      class
	flags      flags
	// startedAfter is how many seconds after its creation the pod started.
	startedAfter uint32
	rare         *rare
}

// Controller is the owner that controls a pod.
type Controller struct {
	schema.GroupKind
	Name string
	UID  types.UID
}

// Exists reports whether the pod has a controller.
func (c Controller) Exists() bool { return c.Kind != "" }

// flags are facts about a pod, one bit each.
type flags uint32

const (
	terminating flags = 1 << iota
	static
	deadline
	critical
	managedFieldsCut
	anybodyResized
	applied
	answers
	marked
	onlyOriginals
	specUnseen
	runsSpec
	refusedForGood
	isReady
	cpuLags
	memoryLags
	sizedAtCreation
	cutShort
	accepted
)

func (p *Pod) is(f flags) bool { return p.flags&f != 0 }

func (f *flags) set(bit flags, on bool) {
	if on {
		*f |= bit
	}
}

// rare holds what few pods have.
type rare struct {
	overhead          sizing.Container
	unschedulable     int64
	priority          int32
	whole             *Whole
	windows           bool
	crossesNamespaces bool
	claim             string
	unsupported       string
	nearby            unique.Handle[string]
	answer            *Answer
	conditions        []Condition
	kills             []Kill
	reverts           []Revert
	theirAppliedSizes string
	// long are annotation values of at least longText bytes.
	long                                     []unique.Handle[string]
	originalsBy, priorityClass, computeClass unique.Handle[string]
}

var nothingRare rare

func (p *Pod) seldom() *rare {
	if p.rare == nil {
		return &nothingRare
	}
	return p.rare
}

// Whole holds the pod-level resources of a pod (spec.resources).
type Whole struct {
	sizing.Container
	// Asks reports whether there is a request or limit of any resource.
	Asks bool
}

// phase and class encode the strings of Kubernetes in a byte.
type (
	phase uint8
	class uint8
)

var (
	phases  = [...]corev1.PodPhase{"", corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}
	classes = [...]corev1.PodQOSClass{"", corev1.PodQOSBestEffort, corev1.PodQOSBurstable, corev1.PodQOSGuaranteed}
)

// ResourceVersion returns the resource version of the object that was read.
func (p *Pod) ResourceVersion() string { return p.texts.next(new(int)) }

// Controller returns the pod's controller; zero if it has none.
func (p *Pod) Controller() Controller {
	at := 0
	p.texts.next(&at)
	return Controller{schema.ParseGroupKind(textOf(p.kind)), p.texts.next(&at), types.UID(p.texts.next(&at))}
}

// Labels returns all labels of the pod.
func (p *Pod) Labels() Texts { return p.texts.labels() }

// Annotations returns all annotations of the pod except the ones that the reconciler writes:
// other methods return their contents.
func (p *Pod) Annotations() Texts { return p.texts.annotations(p.seldom().long) }

// Label returns the value of a label, and whether the pod has it.
func (p *Pod) Label(key string) (value string, ok bool) { return p.Labels().Lookup(key) }

// Annotation is like Label, for Annotations.
func (p *Pod) Annotation(key string) (value string, ok bool) { return p.Annotations().Lookup(key) }

// Conditions returns what the kubelet reports about resizes of this spec.
func (p *Pod) Conditions() []Condition { return p.seldom().conditions }

// Kills returns the kills for lack of memory that the pod's status shows.
func (p *Pod) Kills() []Kill { return p.seldom().kills }

// Reverts returns the resizes of the pod that made it worse and were reverted.
func (p *Pod) Reverts() []Revert { return p.seldom().reverts }

// AppliedSizes returns what our last resize changed; nil if the pod does not have that
// annotation. It parses the annotation.
func (p *Pod) AppliedSizes() AppliedSizes {
	return ParseAppliedSizes(textOf(p.appliedSizes))
}

// AppliedSizesHaveTimes reports whether the annotation says when an amount that the resize did not change had changed last.
func (p *Pod) AppliedSizesHaveTimes() bool {
	return strings.Contains(textOf(p.appliedSizes), sinceMark)
}

// HasBoost reports whether the annotation says that any cpu is boosted because its container starts.
func (p *Pod) HasBoost() bool { return strings.Contains(textOf(p.appliedSizes), boostMarks[Boosted]) }

// AppliedDemand returns what the containers needed according to usage when they were last sized; nil if the pod does not
// have that annotation. It parses the annotation.
func (p *Pod) AppliedDemand() AppliedDemand { return ParseAppliedDemand(textOf(p.appliedDemand)) }

// HasAppliedDemand reports whether the pod has that annotation.
func (p *Pod) HasAppliedDemand() bool { return textOf(p.appliedDemand) != "" }

// TheirAppliedSizes returns the value of that annotation if others wrote it, as in the pod's
// template; empty if there is none. It does not count, and would not if we wrote the same.
func (p *Pod) TheirAppliedSizes() string { return p.seldom().theirAppliedSizes }

// Ready reports whether the pod is ready, and when it became ready or not ready. The time is zero
// if that is unknown.
func (p *Pod) Ready() (ready bool, since time.Time) { return p.is(isReady), timeAt(p.readySince) }

// CreatedAt returns the time when the pod was created; zero if it does not exist yet.
func (p *Pod) CreatedAt() time.Time { return timeAt(p.createdAt) }

// StartedAt returns when the containers of the pod started. The pod may have waited for hours until there was room,
// and its node for minutes until it had the images. As long as they have not, and after a container has restarted, it
// is when the node accepted the pod, or else the time of the creation.
func (p *Pod) StartedAt() time.Time {
	return p.CreatedAt().Add(time.Duration(p.startedAfter) * time.Second)
}

// Accepted reports whether a node is known to have accepted the pod. Its author may have chosen the node, and the pod may request more
// than the node has: until the kubelet has looked at it, it takes nothing of the node.
func (p *Pod) Accepted() bool { return p.is(accepted) }

// Namespace returns the pod's namespace.
func (p *Pod) Namespace() string { return textOf(p.namespace) }

// NamespacedName returns the pod's namespace and name.
func (p *Pod) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace(), Name: p.Name}
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, which caches use to identify objects.
func (p *Pod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.Namespace(), Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion()}
}

// Node returns the name of the pod's node; empty if it has no node yet.
func (p *Pod) Node() string { return textOf(p.node) }

// UnschedulableSince returns when nodes began to lack room for the pod; zero if it has a node, or may still get one.
func (p *Pod) UnschedulableSince() time.Time { return timeAt(p.seldom().unschedulable) }

// Phase returns the pod's phase.
func (p *Pod) Phase() corev1.PodPhase { return phases[p.phase] }

// Finished reports whether the pod has succeeded or failed.
func (p *Pod) Finished() bool {
	return p.Phase() == corev1.PodSucceeded || p.Phase() == corev1.PodFailed
}

// Lives reports whether the pod has not ended, and is not being deleted.
func (p *Pod) Lives() bool { return !p.Finished() && !p.Terminating() }

// QOSClass returns the QoS class that the API server reports; empty if it reports none.
func (p *Pod) QOSClass() corev1.PodQOSClass { return classes[p.class] }

// Terminating reports whether the pod is being deleted.
func (p *Pod) Terminating() bool { return p.is(terminating) }

// CutShort reports whether a container of the pod ended after the deletion of the pod was requested: it may not have finished
// its work, even if it succeeded.
func (p *Pod) CutShort() bool { return p.is(cutShort) }

// Static reports whether the pod is the mirror of a static pod.
func (p *Pod) Static() bool { return p.is(static) }

// HasDeadline reports whether the run time of the pod is limited (activeDeadlineSeconds).
func (p *Pod) HasDeadline() bool { return p.is(deadline) }

// Critical reports whether the kubelet kills other pods to make room for this pod. It also
// does so for static pods, but these are never resized.
func (p *Pod) Critical() bool { return p.is(critical) }

// Windows reports whether the pod's spec requests Windows, as its system or that of its node.
func (p *Pod) Windows() bool { return p.seldom().windows }

// PriorityClass returns the name of the pod's priority class; empty if it has none.
func (p *Pod) PriorityClass() string { return textOf(p.seldom().priorityClass) }

// Priority returns the priority of the pod among others.
func (p *Pod) Priority() int32 { return p.seldom().priority }

// ComputeClass returns the value of the node selector cloud.google.com/compute-class.
func (p *Pod) ComputeClass() string { return textOf(p.seldom().computeClass) }

// CrossesNamespaces reports whether a term of pod (anti-)affinity selects namespaces.
func (p *Pod) CrossesNamespaces() bool { return p.seldom().crossesNamespaces }

// Overhead returns the pod's overhead: the resources that it needs in addition to its
// containers.
func (p *Pod) Overhead() sizing.Container { return p.seldom().overhead }

// Whole returns the pod-level resources; nil if the pod has none.
func (p *Pod) Whole() *Whole { return p.seldom().whole }

// Claim describes the resource claim that the pod uses; empty if it uses none.
func (p *Pod) Claim() string { return p.seldom().claim }

// NotReported returns the name of the first running container if the kubelet does not
// report its resources; otherwise it is empty.
func (p *Pod) NotReported() string { return p.seldom().unsupported }

// Applied returns the node type that the pod was last sized for, and whether the annotation
// exists.
func (p *Pod) Applied() (nodeType string, ok bool) { return textOf(p.appliedType), p.is(applied) }

// AppliedAt returns the time of that resize, in UTC; zero if the pod does not record it.
func (p *Pod) AppliedAt() time.Time { return timeAt(p.appliedAt) }

// ResizedAt returns the time when the reconciler last resized the pod, in whole seconds of
// the API server's clock. If it sized the pod while it was being created, that is when the pod started; zero if it never did.
func (p *Pod) ResizedAt() time.Time { return timeAt(p.resizedAt) }

// AnybodyResized reports whether managedFields contain a resize by any manager.
func (p *Pod) AnybodyResized() bool { return p.is(anybodyResized) }

// ManagedFieldsCut reports whether managedFields contain merged or unattributed writes, so that
// they do not go back to the pod's creation.
func (p *Pod) ManagedFieldsCut() bool { return p.is(managedFieldsCut) }

// Marked reports whether the pod has annotations of the reconciler.
func (p *Pod) Marked() bool { return p.is(marked) }

// OnlyOriginals reports whether all annotations of the reconciler hold originals.
func (p *Pod) OnlyOriginals() bool { return p.is(onlyOriginals) }

// OriginalsBy returns the field managers that are vouched for, separated by commas.
func (p *Pod) OriginalsBy() string { return textOf(p.seldom().originalsBy) }

// Answer returns the node's answer that the pod records; nil if there is none that counts.
func (p *Pod) Answer() *Answer { return p.seldom().answer }

// Answers reports whether the pod records an answer of its node, valid or not.
func (p *Pod) Answers() bool { return p.is(answers) }

// Sized reports whether the reconciler ever sized the pod, even if only in part.
func (p *Pod) Sized() bool {
	return p.is(applied) || p.resizedAt != never && p.is(marked)
}

// SizedAtCreation reports whether the server gave the pod its sizes while it was being created, and has not resized it
// since. ResizedAt and AppliedSizes are then about its creation.
func (p *Pod) SizedAtCreation() bool { return p.is(sizedAtCreation) }

// never is a time that is not set.
const never = 0

func timeAt(seconds int64) time.Time {
	if seconds == never {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// textOf returns the string of a handle, or "" if the handle is not set.
func textOf(h unique.Handle[string]) string {
	if h == (unique.Handle[string]{}) {
		return ""
	}
	return h.Value()
}

// handleOf returns a handle, which is not set for an empty string.
func handleOf(s string) unique.Handle[string] {
	if s == "" {
		return unique.Handle[string]{}
	}
	return unique.Make(s)
}
