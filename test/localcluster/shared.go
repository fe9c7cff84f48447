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

// sharedVariable is the environment variable with the directory of a control plane
// that the tests of all packages share; without it each package has its own. Make sets
// it. The directory is the same each time: Go keeps results of tests by what the
// environment is.
const sharedVariable = "WORKLOAD_RESIZER_TEST_CLUSTER"

// Namespace is a new one, for one test, of a control plane that others use at the same
// time: what is not in a namespace is not this test's, nor is the control plane to be
// stopped.
type Namespace struct {
	// Name is another one each time.
	Name string

	cluster *Cluster
}

// NamespaceForTest makes a namespace for a test, which fails if that does not succeed.
// It goes away with the cluster. If the test has failed, it shows the ends of the logs
// of the cluster, and keeps them.
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

// namePrefix begins the name of the namespace of a test.
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

// Config is as that of Cluster.
func (n *Namespace) Config() *rest.Config { return n.cluster.Config() }

// Version is as that of Cluster.
func (n *Namespace) Version() *version.Version { return n.cluster.Version() }

// Apply is as the function of that name, for the objects of manifests that are in any
// namespace: they come into this one. Those that are of the whole cluster are left out.
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

// shared returns the control plane that is shared, and one for this process alone if
// there is none, which ends with the process.
var shared = sync.OnceValues(func() (*Cluster, error) {
	dir := os.Getenv(sharedVariable)
	if dir == "" {
		dir, err := os.MkdirTemp("", "localcluster-")
		if err != nil {
			return nil, err
		}
		return Up(context.Background(), Options{Dir: dir})
	}
	// Results of tests do not hold for another testcluster.
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
