package manifest

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maker is an object that creates pods. pods returns the object's metadata, the template of
// its pods, nil if it has none, where the template's spec is, and the kind of their controller, empty for
// a pod itself.
type maker interface {
	pods() (meta *metav1.ObjectMeta, template *corev1.PodTemplateSpec, at string, owner metav1.TypeMeta)
}

// inTemplate is where the spec of a pod template usually is.
const inTemplate = "spec.template.spec"

var (
	replicaSets = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}
	jobs        = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
)

// makers has all built-in kinds that create pods.
var makers = map[metav1.TypeMeta]func() maker{
	{APIVersion: "v1", Kind: "Pod"}:                   func() maker { return &barePod{} },
	{APIVersion: "v1", Kind: "ReplicationController"}: func() maker { return &replicationController{} },
	{APIVersion: "apps/v1", Kind: "Deployment"}:       func() maker { return &deployment{} },
	{APIVersion: "apps/v1", Kind: "ReplicaSet"}:       func() maker { return &replicaSet{} },
	{APIVersion: "apps/v1", Kind: "StatefulSet"}:      func() maker { return &statefulSet{} },
	{APIVersion: "apps/v1", Kind: "DaemonSet"}:        func() maker { return &daemonSet{} },
	{APIVersion: "batch/v1", Kind: "Job"}:             func() maker { return &job{} },
	{APIVersion: "batch/v1", Kind: "CronJob"}:         func() maker { return &cronJob{} },
}

// Planned returns the built-in kinds that are planned, by name.
func Planned() []string {
	var kinds []string
	for of := range makers {
		kinds = append(kinds, of.Kind)
	}
	slices.Sort(kinds)
	return kinds
}

type (
	barePod               struct{ corev1.Pod }
	replicationController struct{ corev1.ReplicationController }
	deployment            struct{ appsv1.Deployment }
	replicaSet            struct{ appsv1.ReplicaSet }
	statefulSet           struct{ appsv1.StatefulSet }
	daemonSet             struct{ appsv1.DaemonSet }
	job                   struct{ batchv1.Job }
	cronJob               struct{ batchv1.CronJob }
)

func (o *barePod) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}, "spec", metav1.TypeMeta{}
}

func (o *replicationController) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, o.Spec.Template, inTemplate, metav1.TypeMeta{APIVersion: "v1", Kind: "ReplicationController"}
}

// A Deployment's pods are controlled by its ReplicaSets.
func (o *deployment) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.Template, inTemplate, replicaSets
}

func (o *replicaSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.Template, inTemplate, replicaSets
}

func (o *statefulSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.Template, inTemplate, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}
}

func (o *daemonSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.Template, inTemplate, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
}

func (o *job) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.Template, inTemplate, jobs
}

// A CronJob's pods are controlled by its Jobs.
func (o *cronJob) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string, metav1.TypeMeta) {
	return &o.ObjectMeta, &o.Spec.JobTemplate.Spec.Template, "spec.jobTemplate." + inTemplate, jobs
}
