package charts

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestDropIn(t *testing.T) {
	t.Parallel()
	t.Run("the published controller and the server never run together", thePublishedControllerAndTheServerNeverRunTogether)
}

func thePublishedControllerAndTheServerNeverRunTogether(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	deployments := kubernetes.NewForConfigOrDie(cluster.Config()).AppsV1().Deployments(namespace)
	apply := func(input, file string) {
		t.Helper()
		must(t, input, "kubectl", "--kubeconfig", cluster.Kubeconfig, "apply", "-f", file)
	}
	apply("", "../testdata/published.yaml")
	for _, tc := range []struct{ name, namespace, values string }{
		{"next to it", namespace, ""},
		{"in place of it", namespace, "dropIn: {enabled: true}"},
		{"in another namespace", "default", ""},
	} {
		const refused = "the published controller still runs as Deployment workload-resizer-system/workload-resizer-controller-manager: delete it first"
		_, err := run(t, tc.values, "helm", "install", "mine", chart, "--kubeconfig", cluster.Kubeconfig, "--namespace", tc.namespace, "--take-ownership", "--values", "-")
		if err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: got %v, want %q", tc.name, err, refused)
		}
	}
	before, err := deployments.Get(t.Context(), "workload-resizer-controller-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := rendered(t, namespace, "dropIn: {enabled: true}")
	if err != nil {
		t.Fatal(err)
	}
	apply(manifest, "-")
	after, err := deployments.Get(t.Context(), before.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var containers []string
	for _, container := range after.Spec.Template.Spec.Containers {
		containers = append(containers, container.Name)
	}
	if after.UID != before.UID || !slices.Equal(containers, []string{"server"}) || after.Spec.Strategy.Type != "Recreate" {
		t.Errorf("the Deployment has the containers %v and the strategy %s", containers, after.Spec.Strategy.Type)
	}
	// Helm can adopt it now.
	must(t, "", "helm", "install", "mine", chart, "--kubeconfig", cluster.Kubeconfig, "--namespace", namespace, "--take-ownership", "--set", "dropIn.enabled=true", "--force-conflicts")
	// Helm can also return to the default name and strategy.
	must(t, "", "helm", "upgrade", "mine", chart, "--kubeconfig", cluster.Kubeconfig, "--namespace", namespace, "--reset-then-reuse-values", "--set", "dropIn.enabled=false")
	all, err := deployments.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range all.Items {
		found = append(found, d.Name+" "+string(d.Spec.Strategy.Type))
	}
	if !slices.Equal(found, []string{"workload-resizer RollingUpdate"}) {
		t.Errorf("the Deployments are %v", found)
	}
}
