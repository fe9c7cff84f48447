package manifest

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maker is an object that creates pods. pods returns the object's metadata, the template of
// its pods, nil if it has none, and the kind of their controller, empty for a pod itself.
type maker interface {
	pods() (meta *metav1.ObjectMeta, template *corev1.PodTemplateSpec, owner string)
}

// makers has all kinds that create pods, by "apiVersion kind".
var makers = map[string]func() maker{
	"v1 Pod":                   func() maker { return &barePod{} },
	"v1 ReplicationController": func() maker { return &replicationController{} },
	"apps/v1 Deployment":       func() maker { return &deployment{} },
	"apps/v1 ReplicaSet":       func() maker { return &replicaSet{} },
	"apps/v1 StatefulSet":      func() maker { return &statefulSet{} },
	"apps/v1 DaemonSet":        func() maker { return &daemonSet{} },
	"batch/v1 Job":             func() maker { return &job{} },
	"batch/v1 CronJob":         func() maker { return &cronJob{} },
}

// Kinds returns the supported kinds, by name.
func Kinds() []string {
	var kinds []string
	for name := range makers {
		_, kind, _ := strings.Cut(name, " ")
		kinds = append(kinds, kind)
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

func (o *barePod) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}, ""
}

func (o *replicationController) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, o.Spec.Template, "ReplicationController"
}

// A Deployment's pods are controlled by its ReplicaSets.
func (o *deployment) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.Template, "ReplicaSet"
}

func (o *replicaSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.Template, "ReplicaSet"
}

func (o *statefulSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.Template, "StatefulSet"
}

func (o *daemonSet) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.Template, "DaemonSet"
}

func (o *job) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.Template, "Job"
}

// A CronJob's pods are controlled by its Jobs.
func (o *cronJob) pods() (*metav1.ObjectMeta, *corev1.PodTemplateSpec, string) {
	return &o.ObjectMeta, &o.Spec.JobTemplate.Spec.Template, "Job"
}
