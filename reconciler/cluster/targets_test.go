package cluster

import (
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// scaler returns a HorizontalPodAutoscaler by cpu utilization, "namespace/name", for a target in an API version.
func scaler(name, version, kind, target string) *autoscalingv2.HorizontalPodAutoscaler {
	namespace, name, _ := strings.Cut(name, "/")
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: version, Kind: kind, Name: target},
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
		}}},
	}}
}

// byAverage makes a HorizontalPodAutoscaler scale by an average value.
func byAverage(hpa *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	hpa.Spec.Metrics[0].Resource.Target = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType}
	return hpa
}

// controlled sets the controller of a pod.
func controlled(version, kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		by := &p.OwnerReferences[0]
		by.APIVersion, by.Kind, by.Name = version, kind, name
		p.Labels = map[string]string{"pod-template-hash": "1"}
	}
}

// scaled returns a cluster with pods of Deployments, and of two kinds that are named StatefulSet.
func scaled(t *testing.T) *Cluster {
	return known(t,
		podtest.Pod(podtest.Guaranteed, named("shop", "web-1-x"), controlled("apps/v1", "ReplicaSet", "web-1")),
		podtest.Pod(podtest.Guaranteed, named("shop", "web-1-y"), controlled("apps/v1", "ReplicaSet", "web-1")),
		podtest.Pod(podtest.Guaranteed, named("bank", "web-1-x"), controlled("apps/v1", "ReplicaSet", "web-1")),
		podtest.Pod(podtest.Guaranteed, named("shop", "db-0"), controlled("apps/v1", "StatefulSet", "db")),
		podtest.Pod(podtest.Guaranteed, named("shop", "kruise-0"), controlled("apps.kruise.io/v1beta1", "StatefulSet", "db")))
}

func TestAutoscalersOf(t *testing.T) {
	c := scaled(t)
	for _, hpa := range []*autoscalingv2.HorizontalPodAutoscaler{
		scaler("shop/z", "apps/v1", "Deployment", "web"), scaler("shop/a", "apps/v1beta2", "Deployment", "web"),
		scaler("bank/of-bank", "apps/v1", "Deployment", "web"), scaler("shop/foreign", "example.com/v1", "Deployment", "web"),
		scaler("shop/core", "v1", "Deployment", "web"), scaler("shop/invalid", "a/b/c", "Deployment", "web"),
		scaler("shop/replicas", "apps/v1", "ReplicaSet", "web-1"),
		scaler("shop/sets", "apps/v1", "StatefulSet", "db"), scaler("shop/kruise", "apps.kruise.io/v1alpha1", "StatefulSet", "db"),
	} {
		if err := c.autoscalers.Add(hpa); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"shop/web-1-x": "a replicas z", "bank/web-1-x": "of-bank", "shop/db-0": "sets", "shop/kruise-0": "kruise",
	} {
		namespace, pod, _ := strings.Cut(name, "/")
		of := c.Pods(namespace).Get(pod)
		var names []string
		for _, hpa := range c.AutoscalersOf(of, c.owners.Chain(nil, of)) {
			names = append(names, hpa.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// again notes the pods that are planned again.
type again struct{ pods []string }

func (a *again) Changed(name types.NamespacedName) { a.pods = append(a.pods, name.String()) }
func (a *again) Eased(string, ...contract.Reason)  {}

func TestHPAChanged(t *testing.T) {
	type hpa = autoscalingv2.HorizontalPodAutoscaler
	web, db := scaler("shop/one", "apps/v1", "Deployment", "web"), scaler("shop/one", "apps/v1", "StatefulSet", "db")
	values := byAverage(web.DeepCopy())
	written := web.DeepCopy()
	written.Status.CurrentReplicas = 3
	const pods = "shop/web-1-x shop/web-1-y"
	for _, tc := range []struct {
		name        string
		before, now *hpa
		want        string
	}{
		{"created", nil, web, pods},
		{"deleted", web, nil, pods},
		{"created by an average value", nil, values, ""},
		{"deleted by an average value", values, nil, ""},
		{"from utilization to an average value", web, values, pods},
		{"from an average value to utilization", values, web, pods},
		{"between targets", web, db, "shop/db-0 " + pods},
		{"a new status", web, written, ""},
		{"for a kind of another group", nil, scaler("shop/one", "example.com/v1", "Deployment", "web"), ""},
		{"for nothing", nil, scaler("shop/one", "apps/v1", "Deployment", "other"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, told := scaled(t), &again{}
			c.Serve(told, c.refused)
			// As an informer passes objects that do not exist.
			var before, now any
			if tc.before != nil {
				before = tc.before
			}
			if tc.now != nil {
				now = tc.now
			}
			c.hpaChanged(before, now)
			slices.Sort(told.pods)
			if got := strings.Join(told.pods, " "); got != tc.want {
				t.Errorf("planned again: %q, want %q", got, tc.want)
			}
			told.pods, c.filled = nil, make(chan struct{})
			if c.hpaChanged(before, now); len(told.pods) != 0 {
				t.Errorf("planned before the cluster is read: %q", told.pods)
			}
		})
	}
}
