package selfsigned

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestKeeper(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	admin := kubernetes.NewForConfigOrDie(namespace.Config())
	log := captureLog(t)

	t.Run("callers can always verify what is served, while authorities replace each other", func(t *testing.T) { testRotation(t, namespace, admin) })
	t.Run("replicas that start together agree on one certificate", func(t *testing.T) {
		o := newObjects(t, admin, namespace.Name, "at-once")
		var replicas []*Keeper
		for range 4 {
			replicas = append(replicas, start(t, o.config(admin)))
		}
		o.settled(replicas...)
	})
	for name, names := range map[string][]string{"the caller's name": {host, otherHost}, "another name": {otherHost, host}} {
		t.Run("replicas with different names agree on one certificate, if the first has "+name, func(t *testing.T) { testNames(t, admin, namespace.Name, names) })
	}
	t.Run("broken content is replaced while the last good certificate is served", func(t *testing.T) { testBroken(t, admin, namespace.Name, log) })
	t.Run("certificates of other actors are not replaced", func(t *testing.T) { testForeign(t, admin, namespace.Name) })
	t.Run("missing objects are reported with advice", func(t *testing.T) { testMissing(t, admin, namespace.Name) })
	t.Run("a dry run writes nothing", func(t *testing.T) { testDryRun(t, admin, namespace.Name) })
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("the log contains a private key")
	}
}

const otherHost = "other.example.com"

// testNames starts a replica for each name when the one before has made a certificate.
func testNames(t *testing.T, admin kubernetes.Interface, namespace string, names []string) {
	o := newObjects(t, admin, namespace, "names-"+names[0])
	var replicas []*Keeper
	for _, name := range names {
		config := o.config(admin)
		config.DNSNames = []string{name}
		replicas = append(replicas, start(t, config))
		localcluster.Eventually(t, "a certificate", func() error {
			o.clock.Step(period)
			return replicas[len(replicas)-1].Ready()
		})
	}
	o.settled(replicas...)
	localcluster.Eventually(t, "a certificate for both names", func() error {
		o.clock.Step(period) // Callers learn of an authority for both first.
		leaf, err := o.call(replicas[0], o.bundle())
		if err != nil {
			return err
		}
		return errors.Join(leaf.VerifyHostname(host), leaf.VerifyHostname(otherHost))
	})
	o.settled(replicas...)
}

// testRotation runs two replicas with the rights from the manifests. They start before the API
// server answers.
func testRotation(t *testing.T, namespace *localcluster.Namespace, admin kubernetes.Interface) {
	if err := namespace.Apply(t.Context(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	proxy := localcluster.ProxyForTest(t, namespace.Config(), nil)
	path, err := localcluster.ServiceAccountKubeconfig(t.Context(), namespace.Config(), namespace.Name, deploy.ServiceAccount, t.TempDir(), localcluster.WithServer(proxy.URL, proxy.CA))
	if err != nil {
		t.Fatal(err)
	}
	account, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(account)
	o := &objects{t, admin, namespace.Name, "workload-resizer-tls", "workload-resizer-ca", testingclock.NewFakeClock(time.Now())}
	if err := proxy.SetDown(true); err != nil {
		t.Fatal(err)
	}
	replicas := []*Keeper{start(t, o.config(client)), start(t, o.config(client))}
	notReady(t, replicas[0], "connection refused")
	if err := proxy.SetDown(false); err != nil {
		t.Fatal(err)
	}
	o.settled(replicas...)
	first, before := o.bundle(), o.bundle()
	bundles := map[string]bool{}
	// Shorter than the last third of a certificate, so that none expires in a step.
	const step = 9 * 24 * time.Hour
	for end := o.clock.Now().Add(authorityLife + step); o.clock.Now().Before(end); {
		o.clock.Step(step)
		o.settled(replicas...)
		for i, k := range replicas {
			if _, err := o.call(k, before); err != nil {
				t.Fatalf("at %s, replica %d cannot be verified by what was published nine days before: %v", o.clock.Now(), i, err)
			}
		}
		before = o.bundle()
		bundles[before] = true
	}
	// The old authority; both; the new one.
	if len(bundles) != 3 || before == first || strings.Count(before, "BEGIN") != 1 {
		t.Errorf("there were %d bundles, and the last has %d authorities", len(bundles), strings.Count(before, "BEGIN"))
	}
}
