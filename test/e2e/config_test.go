package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func (c *cluster) configMapLifecycle(t *testing.T) {
	s := c.start(t, localcluster.ServerOptions{Args: quickLease})
	const missing = "ConfigMap workload-resizer-system/workload-resizer-config does not exist"

	// Missing at start: the server is not ready, and the reason is visible everywhere.
	awaitReadyz(t, s, http.StatusServiceUnavailable, "there are no valid ratios yet")
	_, err := s.api.ListRatios(t.Context())
	if client.Reason(err) != "RATIOS_NOT_READY" || !strings.Contains(err.Error(), missing) {
		t.Errorf("the API returns %v", err)
	}
	awaitLog(t, s, missing)
	if code, _, _ := run(t, "resizectl", append(slices.Clone(s.connection), "plan", "-A")...); code != 2 {
		t.Errorf("resizectl plan exits with %d while there are no ratios", code)
	}

	c.apply(t, promptConfig())
	awaitReadyz(t, s, http.StatusOK, "ok")
	before, err := s.api.ListRatios(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(before.GetRatios()) != 3 || !configMapSource(before).GetHealthy() {
		t.Errorf("ratios %v", before)
	}

	// Invalid: the last good table stays in effect, and the reason is visible everywhere.
	const fault = "min 50m > max 40m"
	broken := strings.Replace(string(promptConfig()), `max: "16"`, `max: "40m"`, 1)
	c.apply(t, []byte(broken))
	const lastGood = "warning: ratios: the last good ratios are in effect"
	awaitReadyz(t, s, http.StatusOK, lastGood)
	c.checkLastGood(t, s, before.GetRevision(), fault)
	cm, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Get(t.Context(), deploy.ConfigMap, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.awaitEvent(t, deploy.Namespace, cm.UID, "InvalidConfig", fault)

	c.apply(t, promptConfig())
	localcluster.Eventually(t, "the valid ConfigMap to remove the warning", func() error {
		_, body, err := s.Readyz(t.Context())
		if err == nil && strings.Contains(body, "warning") {
			err = fmt.Errorf("/readyz is %q", body)
		}
		return err
	})

	// Implausible: only the node type is not used.
	c.apply(t, []byte(strings.Replace(string(promptConfig()), "cpuPerf: 1.25", "cpuPerf: 125", 1)))
	const mistyped = "n4 would be 125 times as fast as n2d for cpu"
	const unused = "implausible ratios are not used"
	awaitReadyz(t, s, http.StatusOK, unused)
	c.awaitEvent(t, deploy.Namespace, cm.UID, "ImplausibleRatio", mistyped)
	c.apply(t, promptConfig())
	localcluster.Eventually(t, "the corrected ratio to be used", func() error {
		_, body, err := s.Readyz(t.Context())
		if err == nil && strings.Contains(body, unused) {
			err = fmt.Errorf("/readyz is %q", body)
		}
		return err
	})

	// Deleted: the same. The log has had this message since the start, so its number must
	// grow.
	said := mentions(s, missing)
	if err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Delete(t.Context(), deploy.ConfigMap, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitReadyz(t, s, http.StatusOK, lastGood)
	c.checkLastGood(t, s, before.GetRevision(), missing)
	if now := mentions(s, missing); now <= said {
		t.Errorf("the log has the message %d times, as before", now)
	}
	c.apply(t, promptConfig())
	localcluster.Eventually(t, "the new ConfigMap to be healthy", func() error {
		list, err := s.api.ListRatios(t.Context())
		if err == nil && !configMapSource(list).GetHealthy() {
			err = fmt.Errorf("ratios %v", list)
		}
		return err
	})
}

// checkLastGood checks that the table is the last good one, and that the API and the log
// show the error.
func (c *cluster) checkLastGood(t *testing.T, s *server, revision, fault string) {
	t.Helper()
	list, err := s.api.ListRatios(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if source := configMapSource(list); list.GetRevision() != revision || source.GetHealthy() || !strings.Contains(source.GetMessage(), fault) {
		t.Errorf("the API returns %v", list)
	}
	awaitLog(t, s, fault)
	select {
	case <-s.Done():
		t.Fatal("the server ended")
	default:
	}
}

func awaitReadyz(t *testing.T, s *server, code int, text string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("/readyz to return %d and %q", code, text), func() error {
		got, body, err := s.Readyz(t.Context())
		if err == nil && (got != code || !strings.Contains(body, text)) {
			err = fmt.Errorf("it returns %d %q", got, body)
		}
		return err
	})
}

func awaitLog(t *testing.T, s *server, text string) {
	t.Helper()
	localcluster.Eventually(t, "the log to contain "+text, func() error {
		if mentions(s, text) == 0 {
			return errors.New("it does not")
		}
		return nil
	})
}

// mentions counts how often a string is in the log. The log quotes messages and escapes
// quotation marks in them.
func mentions(s *server, text string) int {
	return strings.Count(strings.ReplaceAll(s.Log(), `\"`, `"`), text)
}

// configMapSource returns the source for the ConfigMap, nil if there is none.
func configMapSource(list *workloadresizerv1.ListRatiosResponse) *workloadresizerv1.RatioSource {
	for _, source := range list.GetSources() {
		if source.GetName() == configmap.Source {
			return source
		}
	}
	return nil
}
