package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// sharedVariable is the environment variable with the directory of a control plane that the
// tests of all packages share. Without it, each package has its own control plane. Make sets
// the variable, always to the same directory: Go caches test results by environment.
const sharedVariable = "WORKLOAD_RESIZER_TEST_CLUSTER"

// Namespace is a new namespace for one test, in a control plane that other tests use at the same
// time. The test must neither use objects outside of namespaces, nor stop the control plane.
type Namespace struct {
	// Name is unique.
	Name string

	cluster *Cluster
}

// NamespaceForTest creates a namespace for a test, and fails the test on errors. The namespace
// exists as long as the cluster. If the test fails, it shows the last lines of the cluster's
// logs, and keeps the logs.
func NamespaceForTest(tb testing.TB) *Namespace {
	tb.Helper()
	cluster, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(cluster.config)
	if err != nil {
		tb.Fatal(err)
	}
	made, err := client.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: namePrefix(tb.Name())}}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			cluster.showLogs(tb)
		}
	})
	return &Namespace{Name: made.Name, cluster: cluster}
}

// namePrefix returns the prefix of the names of a test's namespaces.
func namePrefix(test string) string {
	const longest = 40
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(test))
	return name[:min(len(name), longest)] + "-"
}

// Config is like the method of Cluster.
func (n *Namespace) Config() *rest.Config { return n.cluster.Config() }

// Version is like the method of Cluster.
func (n *Namespace) Version() *version.Version { return n.cluster.Version() }

// Apply is like the function of that name, but it moves namespaced objects to this namespace,
// and skips cluster-scoped objects.
func (n *Namespace) Apply(ctx context.Context, manifests ...[]byte) error {
	objects, err := decode(manifests)
	if err != nil {
		return err
	}
	a, err := newApplier(n.cluster.config)
	if err != nil {
		return err
	}
	a.namespace = n.Name
	return a.applyAll(ctx, objects)
}

// Shell runs commands as the cluster's administrator, and returns their output.
func (n *Namespace) Shell(ctx context.Context, commands string) (string, error) {
	return Shell(ctx, n.cluster.Kubeconfig, commands)
}

// shared returns the shared control plane. If there is none, it starts one for this process,
// which ends with the process.
var shared = sync.OnceValues(func() (*Cluster, error) {
	dir := os.Getenv(sharedVariable)
	if dir == "" {
		dir, err := os.MkdirTemp("", "localcluster-")
		if err != nil {
			return nil, err
		}
		return Up(context.Background(), Options{Dir: dir})
	}
	// Stat the binary, so that cached test results are not valid for another testcluster.
	binary, err := Binary("testcluster")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), binary: binary}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("use the cluster of %s: %w", sharedVariable, err)
	}
	if wanted := os.Getenv(versionVariable); wanted != "" && wanted != c.version.String() {
		return nil, fmt.Errorf("use the cluster of %s: its version is %s, and %s is %s", sharedVariable, c.version, versionVariable, wanted)
	}
	return c, nil
})
