package pod

import (
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Pod is what the reconciler knows of a pod. Nobody changes it.
type Pod struct {
	// Name and UID have memory of their own, as others keep them for longer.
	Name string
	UID  types.UID
	// Containers are spec.containers, then spec.initContainers, each in its order.
	Containers []Container

	// texts are those that hardly any other pod has.
	texts texts

	namespace, node, appliedType unique.Handle[string]
	// kind is that of the controller.
	kind                 unique.Handle[string]
	resizedAt, appliedAt int64
	phase                phase
	class                class
	flags                flags
	rare                 *rare
}

// Controller is the owner that made a pod and keeps it.
type Controller struct {
	Kind, Name string
	UID        types.UID
}

// Exists reports whether the pod has one.
func (c Controller) Exists() bool { return c.Kind != "" }

// flags are facts that take a bit each.
type flags uint16

const (
	terminating flags = 1 << iota
	static
	deadline
	critical
	recordCut
	anybodyResized
	applied
	answers
	marked
	onlyOriginals
	specUnseen
	runsSpec
	refusedForGood
)

func (p *Pod) is(f flags) bool { return p.flags&f != 0 }

func (f *flags) set(bit flags, on bool) {
	if on {
		*f |= bit
	}
}

// rare is what few pods have.
type rare struct {
	overhead          sizing.Container
	whole             *Whole
	windows           bool
	claim             string
	unsupported       string
	crossesNamespaces bool
	answer            *Answer
	conditions        []Condition
	// long are annotations.
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

// Whole is what a pod asks for as a whole (spec.resources).
type Whole struct {
	sizing.Container
	// Asks tells that there is any request or limit, of whatever resource.
	Asks bool
}

// phase and class are the texts of Kubernetes in a byte.
type (
	phase uint8
	class uint8
)

var (
	phases  = [...]corev1.PodPhase{"", corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}
	classes = [...]corev1.PodQOSClass{"", corev1.PodQOSBestEffort, corev1.PodQOSBurstable, corev1.PodQOSGuaranteed}
)

// ResourceVersion is that of the object that was read.
func (p *Pod) ResourceVersion() string { return p.texts.next(new(int)) }

// Controller is what made the pod and keeps it; zero if nothing did.
func (p *Pod) Controller() Controller {
	at := 0
	p.texts.next(&at)
	return Controller{textOf(p.kind), p.texts.next(&at), types.UID(p.texts.next(&at))}
}

// Labels are all that the pod has.
func (p *Pod) Labels() Texts { return p.texts.labels() }

// Annotations are all that the pod has, but for those that the reconciler writes: what
// these say is in the rest.
func (p *Pod) Annotations() Texts { return p.texts.annotations(p.seldom().long) }

// Label returns the value of a label, and whether the pod has it.
func (p *Pod) Label(key string) (value string, ok bool) { return p.Labels().Lookup(key) }

// Annotation is Label for Annotations.
func (p *Pod) Annotation(key string) (value string, ok bool) { return p.Annotations().Lookup(key) }

// Conditions are what the kubelet says of resizes of this spec.
func (p *Pod) Conditions() []Condition { return p.seldom().conditions }

// Namespace is the pod's.
func (p *Pod) Namespace() string { return textOf(p.namespace) }

// NamespacedName is what the pod is called by.
func (p *Pod) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace(), Name: p.Name}
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, by which caches know objects.
func (p *Pod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.Namespace(), Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion()}
}

// Node is where the pod runs, or is to run; empty if it has no node yet.
func (p *Pod) Node() string { return textOf(p.node) }

// Phase is the pod's.
func (p *Pod) Phase() corev1.PodPhase { return phases[p.phase] }

// Finished reports whether all containers have ended for good.
func (p *Pod) Finished() bool {
	return p.Phase() == corev1.PodSucceeded || p.Phase() == corev1.PodFailed
}

// QOSClass is what the API server says; empty if it says nothing.
func (p *Pod) QOSClass() corev1.PodQOSClass { return classes[p.class] }

// Terminating reports whether the pod is being deleted.
func (p *Pod) Terminating() bool { return p.is(terminating) }

// Static reports whether the pod is the mirror of a static one.
func (p *Pod) Static() bool { return p.is(static) }

// HasDeadline reports whether the pod may run only for so long (activeDeadlineSeconds).
func (p *Pod) HasDeadline() bool { return p.is(deadline) }

// Critical reports whether the kubelet makes room for the pod by killing others.
// Static pods, for which it does so too, are never resized.
func (p *Pod) Critical() bool { return p.is(critical) }

// Windows reports whether the pod says that it is for Windows.
func (p *Pod) Windows() bool { return p.seldom().windows }

// PriorityClass is the name of the pod's; empty if it has none.
func (p *Pod) PriorityClass() string { return textOf(p.seldom().priorityClass) }

// ComputeClass is what the node selector cloud.google.com/compute-class asks for.
func (p *Pod) ComputeClass() string { return textOf(p.seldom().computeClass) }

// CrossesNamespaces reports whether a term of pod (anti-)affinity names namespaces.
func (p *Pod) CrossesNamespaces() bool { return p.seldom().crossesNamespaces }

// Overhead is what running the pod takes beside its containers.
func (p *Pod) Overhead() sizing.Container { return p.seldom().overhead }

// Whole is what the pod asks for as a whole; nil if it does not.
func (p *Pod) Whole() *Whole { return p.seldom().whole }

// Claim says which resource claim the pod uses; empty if it uses none.
func (p *Pod) Claim() string { return p.seldom().claim }

// NotReported is the first container that runs, if the kubelet does not report what
// it runs with; else it is empty.
func (p *Pod) NotReported() string { return p.seldom().unsupported }

// Applied is the node type that the pod says it was sized for, and whether it says so.
func (p *Pod) Applied() (nodeType string, ok bool) { return textOf(p.appliedType), p.is(applied) }

// AppliedAt is when that was, in UTC; zero if the pod does not say.
func (p *Pod) AppliedAt() time.Time { return timeAt(p.appliedAt) }

// ResizedAt is when the reconciler last resized the pod, in whole seconds of the API
// server's clock; zero if it never did.
func (p *Pod) ResizedAt() time.Time { return timeAt(p.resizedAt) }

// AnybodyResized reports whether anybody has resized the pod.
func (p *Pod) AnybodyResized() bool { return p.is(anybodyResized) }

// RecordCut reports whether the API server's record of who wrote the pod does not go
// back to its creation.
func (p *Pod) RecordCut() bool { return p.is(recordCut) }

// Marked reports whether the pod has annotations of the reconciler.
func (p *Pod) Marked() bool { return p.is(marked) }

// OnlyOriginals reports whether all annotations of the reconciler are originals.
func (p *Pod) OnlyOriginals() bool { return p.is(onlyOriginals) }

// OriginalsBy are the field managers that are vouched for, separated by commas.
func (p *Pod) OriginalsBy() string { return textOf(p.seldom().originalsBy) }

// Answer is what the pod says of its node; nil if it says nothing that counts.
func (p *Pod) Answer() *Answer { return p.seldom().answer }

// Answers reports whether the pod says anything of its node, whether it counts or not.
func (p *Pod) Answers() bool { return p.is(answers) }

// Sized reports whether the reconciler ever sized the pod, if only in part.
func (p *Pod) Sized() bool {
	return p.is(applied) || p.resizedAt != never && p.is(marked)
}

// never is the time that there is none.
const never = 0

func timeAt(seconds int64) time.Time {
	if seconds == never {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// textOf is the text of a handle that may not be set.
func textOf(h unique.Handle[string]) string {
	if h == (unique.Handle[string]{}) {
		return ""
	}
	return h.Value()
}

// handleOf is not set for an empty text.
func handleOf(s string) unique.Handle[string] {
	if s == "" {
		return unique.Handle[string]{}
	}
	return unique.Make(s)
}
