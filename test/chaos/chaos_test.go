package chaos

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "seed of random events; 0 means a new seed each time")
	roundsFlag = flag.Int("rounds", rounds, "number of processes that are killed at random writes")
	faultsFlag = flag.Int("faults", 0, "minimum number of their calls that fail")
)

// suite is a control plane with simulated kubelets.
type suite struct {
	config *rest.Config
	// token is an administrator's token, for requests through a proxy.
	token   string
	version *version.Version
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	cluster := localcluster.ForTest(t, "")
	s := &suite{config: cluster.Config(), version: cluster.Version()}
	cpuOnly.Store(s.version.LessThan(version.MustParseGeneric("1.34")))
	s.config.ContentType = runtime.ContentTypeProtobuf
	s.config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	s.token = administrator(t, s.config)
	statuswriter.Start(t, s.config, statuswriter.Options{})
	return s
}

func TestChaos(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	t.Run("killed around each step", s.killedAroundEachStep)
	t.Run("killed at random writes", s.killedAtRandomWrites)
	t.Run("every step survives every failure", s.eachFailureOnEachStep)
	t.Run("a step that always fails is retried at growing pauses", s.growingPauses)
	t.Run("broken watches miss nothing", s.brokenWatches)
	t.Run("one call in five fails", s.oneCallInFiveFails)
	t.Run("a new pod is not mistaken for an old one of the same name", s.namesakes)
	t.Run("repeated events do no harm", s.repeatedEvents)
	t.Run("a late resize does no harm", s.lateResize)
}

// TestStamped repeats a part with pods that have originals from their creation. It has a cluster of its own, and mostly
// waits, too.
func TestStamped(t *testing.T) {
	t.Parallel()
	s := newSuite(t)
	if s.version.LessThan(version.MustParseGeneric("1.36")) {
		return // There are no MutatingAdmissionPolicies.
	}
	t.Run("originals are stamped", s.stampOriginals)
	t.Run("killed around each step", func(t *testing.T) { s.killedOn(t, stampedJourneys) })
	t.Run("killed at random writes", func(t *testing.T) { s.killedRandomly(t, shortRounds, 0) })
	t.Run("one call in five fails", s.oneCallInFiveFails)
}

// random returns a source of random numbers, and logs the seed that repeats them.
func random(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// administrator creates a ServiceAccount with all permissions and returns a token for it.
func administrator(t *testing.T, config *rest.Config) string {
	t.Helper()
	const name, namespace = "chaos", metav1.NamespaceDefault
	client := kubernetes.NewForConfigOrDie(config)
	steps := []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		},
		func(ctx context.Context) error {
			_, err := client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
			}, metav1.CreateOptions{})
			return err
		},
	}
	for _, step := range steps {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// through returns the configuration of a client that connects through a proxy.
func (s *suite) through(p *localcluster.Proxy) *rest.Config {
	return &rest.Config{
		Host: p.URL, BearerToken: s.token, TLSClientConfig: rest.TLSClientConfig{CAData: p.CA},
		ContentConfig: s.config.ContentConfig, QPS: -1,
	}
}
