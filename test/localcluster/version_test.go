package localcluster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const versionVariable = "WORKLOAD_RESIZER_TEST_KUBERNETES"

// testVersion expects the version in the environment, or else the version that testcluster is
// built from.
func testVersion(t *testing.T, cluster *localcluster.Cluster) {
	want := os.Getenv(versionVariable)
	if want == "" {
		root, err := localcluster.Root()
		if err != nil {
			t.Fatal(err)
		}
		module, err := os.ReadFile(filepath.Join(root, "test", "cluster", "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		want = string(regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes v(\S+)`).FindSubmatch(module)[1])
	}
	if got := cluster.Version().String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVersion(t *testing.T) {
	t.Run("fails for a version that is not built", failsForAVersionThatIsNotBuilt)
}

func failsForAVersionThatIsNotBuilt(t *testing.T) {
	t.Setenv(versionVariable, "1.2.3")
	cluster, err := localcluster.Up(t.Context(), localcluster.Options{Dir: t.TempDir() + "/cluster"})
	if err == nil {
		t.Fatalf("started a cluster of version %v; stop it: %v", cluster.Version(), cluster.Down())
	}
	if !strings.Contains(err.Error(), "make bin/kubernetes-oldest") {
		t.Errorf("got %v, want an error that suggests how to build it", err)
	}
}
