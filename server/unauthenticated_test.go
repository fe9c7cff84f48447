package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestUnauthenticatedCallers(t *testing.T) {
	t.Run("see nothing of a ConfigMap's content", theySeeNothingOfAConfigMapsContent)
}

// theySeeNothingOfAConfigMapsContent writes a secret where the messages about invalid
// content quote it, into each ConfigMap that the server reads.
func theySeeNothingOfAConfigMapsContent(t *testing.T) {
	const secret, good = "hunter2", "baselineNodeType: n4\nnodeTypes: { n4: { cpuPerf: 1, memPerf: 1 } }\n"
	cluster := localcluster.ForTest(t, "").Config()
	client := kubernetes.NewForConfigOrDie(cluster)
	contents := map[string]map[string]string{
		"config":             {configmap.Key: good + secret + ": true\n"},
		"overrides":          {override.Key: secret + ": true\n"},
		servertest.HoldsName: {secret: "true"},
	}
	for name, data := range contents {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
		if _, err := client.CoreV1().ConfigMaps(servertest.Namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	overrides := override.New(client, servertest.Namespace, "overrides")
	store := ratios.NewStore(overrides, configmap.New(client, servertest.Namespace, "config", nil, nil))
	r := start(t, setup{cluster: cluster, server: func(c *Config) { c.Ratios, c.Overrides = store, overrides }})
	servertest.Run(t, store.Run)

	api := workloadresizerv1.NewStatusServiceClient(r.conn)
	awaitProblems := func(of ...string) {
		t.Helper()
		localcluster.Eventually(t, "the problems of all ConfigMaps", func() error {
			status, err := api.GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
			if err != nil {
				return err
			}
			problems := strings.Join(status.GetProblems(), "\n")
			for _, name := range of {
				if !strings.Contains(problems, "ConfigMap "+servertest.Namespace+"/"+name) || !strings.Contains(problems, secret) {
					return fmt.Errorf("problems are %s", problems)
				}
			}
			return nil
		})
	}
	unseen := func() {
		t.Helper()
		for _, path := range []string{"/readyz", "/readyz?verbose", "/readyz/ratios", "/livez", "/healthz", "/metrics", "/"} {
			if _, body := r.get(t, path); strings.Contains(body, secret) || strings.Contains(body, "ConfigMap "+servertest.Namespace) {
				t.Errorf("%s returns %s", path, body)
			}
		}
		health, err := healthv1.NewHealthClient(r.conn).List(t.Context(), &healthv1.HealthListRequest{})
		if err != nil || strings.Contains(health.String(), secret) {
			t.Errorf("health is %v, %v", health, err)
		}
	}
	awaitProblems("config", "overrides", servertest.HoldsName)
	if code, body := r.get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not ready: ") {
		t.Errorf("/readyz returns %d %s", code, body)
	}
	unseen()
	// A server that is ready reports problems in another way.
	write := func(name string, data map[string]string) {
		t.Helper()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
		if _, err := client.CoreV1().ConfigMaps(servertest.Namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name := range contents {
		write(name, nil)
	}
	write("config", map[string]string{configmap.Key: good})
	localcluster.Eventually(t, "the server to be ready", func() error {
		if code, body := r.get(t, "/readyz"); code != http.StatusOK {
			return fmt.Errorf("/readyz returns %s", body)
		}
		return nil
	})
	for name, data := range contents {
		write(name, data)
	}
	awaitProblems("config", "overrides", servertest.HoldsName)
	if code, body := r.get(t, "/readyz"); code != http.StatusOK || !strings.Contains(body, "\nwarning: ratios: ") || !strings.Contains(body, "\nwarning: holds: ") {
		t.Errorf("/readyz returns %d %s", code, body)
	}
	unseen()
}
