package deploy

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// overlays are the base, and the overlays of it that run in a cluster.
var overlays = []string{"base", "overlays/high-availability", "overlays/drop-in"}

// TestApply applies each overlay with all components to an API server. TestRunning and
// TestDropIn apply overlays without components.
func TestApply(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	admin := kubernetes.NewForConfigOrDie(cluster.Config())
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-f", "testdata/crds.yaml")
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "wait", "--for=condition=Established", "--timeout=1m", "crd", "--all")
	known := components(t)
	if cluster.Version().LessThan(version.MustParseGeneric("1.36")) {
		// These versions do not have MutatingAdmissionPolicies.
		known = slices.DeleteFunc(known, func(c string) bool { return c == "stamp-originals" })
	}
	for _, of := range append(overlays, "overlays/outside") {
		t.Run(of+" with all components", func(t *testing.T) {
			dir := kustomization(t, of, known...)
			// Strict validation refuses unknown fields.
			kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "--validate=strict", "-k", dir)
			if diff := kubectl(t, "--kubeconfig", cluster.Kubeconfig, "diff", "-k", dir); diff != "" {
				t.Errorf("the objects differ from the manifest:\n%s", diff)
			}
			checkRestricted(t, admin, []byte(kubectl(t, "kustomize", dir)))
		})
	}
	t.Run("publishes the authority of cert-manager for callers", func(t *testing.T) { checkAuthority(t, cluster, admin) })
}

func TestApplyRules(t *testing.T) {
	t.Run("each component can be used alone", eachComponentCanBeUsedAlone)
}

func eachComponentCanBeUsedAlone(t *testing.T) {
	for _, of := range overlays {
		plain := string(built(t, of))
		for _, component := range components(t) {
			with := []string{component}
			if component == "cpu-model-label" {
				with = []string{"bench-node", component} // It patches bench-node.
			}
			if string(built(t, of, with...)) == plain {
				t.Errorf("%s does not change with %s", of, component)
			}
		}
	}
}
