package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestCheck breaks what "resizectl check" looks at, piece by piece, and repairs it again. The
// command has only a kubeconfig.
func TestCheck(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	c.beforeInstallation(t)
	c.install(t)
	s := c.start(t, localcluster.ServerOptions{Args: quickLease})
	_, port, err := net.SplitHostPort(s.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t, localcluster.BehindService(deploy.Namespace, port), deployment("shop", "web"))
	c.awaitRunning(t, "shop", 1)
	t.Run("a server without ratios says so", func(t *testing.T) {
		c.awaitCheck(t, 1, "problems", "failure", deploy.ConfigMap)
		c.awaitCheck(t, 1, "ratio-sources", "failure", "does not exist")
		c.awaitCheck(t, 1, "pods", "failure", "no pod of the server is ready")
	})
	c.apply(t, promptConfig())
	s.ready(t)
	c.MarkReady(t, deploy.Namespace)
	c.awaitSettled(t, s, "shop")
	t.Run("a caller sees what it may do", func(t *testing.T) {
		c.awaitCheck(t, 0, "caller-changes", "ok", "you may set ratios, pause pods, restore pods and freeze the cluster")
		viewer := []string{"--service-account-token", deploy.Namespace + "/workload-resizer-viewer"}
		c.awaitCheck(t, 0, "caller-changes", "ok", "you may not set ratios, pause pods, restore pods or freeze the cluster", viewer...)
		c.awaitCheck(t, 0, "caller-pods", "warning", "only the pods in some namespaces", viewer...)
		administered(t, c, "kubectl create clusterrole resizer-pods --verb=get --resource=pods\n"+
			"kubectl create clusterrolebinding resizer-viewer-pods --clusterrole=resizer-pods --serviceaccount=workload-resizer-system:workload-resizer-viewer")
		c.awaitCheck(t, 0, "caller-pods", "ok", "the pods in all namespaces", viewer...)
	})
	for _, f := range []fault{
		{"a missing policy", "workload-resizer-account-guard", "warning", "there is no policy",
			"kubectl delete validatingadmissionpolicy workload-resizer-account-guard", "", [][]byte{deploy.AccountGuard()}},
		{"a policy that is not bound", "workload-resizer-annotation-guard", "warning", "is not bound",
			"kubectl delete validatingadmissionpolicybinding workload-resizer-annotation-guard", "", [][]byte{deploy.AnnotationGuard()}},
		{"missing rights in the cluster", "server-rights", "failure", "list pods",
			"kubectl delete clusterrolebinding workload-resizer", "", deploy.Base()},
		{"an invalid configuration", "ratio-sources", "failure", "source configmap is not healthy",
			"kubectl -n workload-resizer-system patch configmap workload-resizer-config --type merge -p '{\"data\": {\"config.yaml\": \"nonsense\"}}'", "", [][]byte{promptConfig()}},
		{"an implausible ratio", "implausible-ratios", "warning", "a ratio is not used: n4",
			operated + "kubectl workload-resizer ratios set n4=125 --allow-implausible --yes", operated + "kubectl workload-resizer ratios delete n4 --yes", nil},
		{"nodes without a label, whose type is their architecture", "node-types", "warning", "which has no ratio",
			"kubectl label node --all cloud.google.com/machine-family-",
			"kubectl label node n2d-0 cloud.google.com/machine-family=n2d && kubectl label node n4-0 cloud.google.com/machine-family=n4", nil},
		{"a node type without a ratio", "node-types", "warning", "type t2d, which has no ratio",
			"kubectl label node --all --overwrite cloud.google.com/machine-family=t2d",
			"kubectl label node n2d-0 --overwrite cloud.google.com/machine-family=n2d && kubectl label node n4-0 --overwrite cloud.google.com/machine-family=n4", nil},
		{"a pause", "holds", "warning", "1 hold", operated + "kubectl workload-resizer pause -n shop", operated + "kubectl workload-resizer resume -n shop", nil},
		{"a freeze", "holds", "warning", "frozen", operated + "kubectl workload-resizer freeze --yes", operated + "kubectl workload-resizer unfreeze --yes", nil},
		{"a server without a Lease", "leader", "failure", "no replica leads",
			"kubectl -n workload-resizer-system delete rolebinding workload-resizer", "", deploy.Base()},
		{"a HorizontalPodAutoscaler", "horizontal-pod-autoscalers", "warning", "shop/web",
			"kubectl -n shop autoscale deployment web --cpu=80% --max=2", "kubectl -n shop delete hpa web", nil},
		{"metrics that do not answer", "metrics-server", "warning", "does not answer",
			"kubectl apply -f - <<< '" + noMetrics + "'", "kubectl delete apiservice v1beta1.metrics.k8s.io", nil},
	} {
		t.Run(f.name, func(t *testing.T) { c.breaks(t, &f) })
	}
	t.Run("a kubelet that is too old", c.oldKubelet)
	t.Run("a server that has stopped", func(t *testing.T) {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		results := c.awaitCheck(t, 1, "api", "failure", "the server does not answer")
		if i := slices.IndexFunc(results, func(r checkResult) bool { return r.Check == "configmap" }); i < 0 || results[i].Level != "ok" {
			t.Errorf("the ConfigMap is not checked without the server: %+v", results)
		}
	})
	t.Run("an expired authority", func(t *testing.T) { // A server that runs would renew it.
		c.awaitCheck(t, 1, "certificate-authority", "ok", "is valid until")
		c.trust(t, expired(t))
		c.awaitCheck(t, 1, "certificate-authority", "failure", "has expired")
	})
}

// operated makes the plugin act as a ServiceAccount that may change everything.
const operated = "export RESIZECTL_SERVICE_ACCOUNT=default/operator; "

const noMetrics = `{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.metrics.k8s.io"},
"spec": {"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true, "service": {"namespace": "shop", "name": "none"}}}`

// fault is something that a check finds. breaks and repair are commands; manifests repair it, too.
type fault struct {
	name, check, level, message string
	breaks, repair              string
	manifests                   [][]byte
}

// breaks expects a check to pass, to find a fault, and to pass again after the repair.
func (c *cluster) breaks(t *testing.T, f *fault) {
	pass := func() {
		t.Helper()
		localcluster.Eventually(t, "no finding of "+f.check, func() error {
			code, results, err := c.check(t)
			for _, r := range results {
				if r.Check == f.check && r.Level != "ok" || r.Level == "failure" {
					return fmt.Errorf("%+v", r)
				}
			}
			if code != 0 {
				return fmt.Errorf("exit code %d: %w", code, err)
			}
			return nil
		})
	}
	pass()
	administered(t, c, f.breaks)
	code := 0
	if f.level == "failure" {
		code = 1
	}
	c.awaitCheck(t, code, f.check, f.level, f.message)
	if f.repair != "" {
		administered(t, c, f.repair)
	}
	c.apply(t, f.manifests...)
	pass()
}

type checkResult struct{ Check, Level, Message, Remedy string }

// check runs the command as a user who has a kubeconfig, and returns its exit code and results.
func (c *cluster) check(t *testing.T, args ...string) (code int, results []checkResult, err error) {
	t.Helper()
	code, out, errOut := run(t, "resizectl", append([]string{"check", "--kubeconfig", c.Kubeconfig, "--service-account-token", "default/operator", "-o", "json"}, args...)...)
	var all struct {
		Level  string
		Groups []struct{ Checks []checkResult }
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return code, nil, fmt.Errorf("%w: %s%s", err, out, errOut)
	}
	for _, g := range all.Groups {
		results = append(results, g.Checks...)
	}
	if (all.Level == "failure") != (code == 1) {
		t.Errorf("the level is %s, and the exit code %d", all.Level, code)
	}
	for _, r := range results {
		if (r.Level == "ok") != (r.Remedy == "") {
			t.Errorf("a remedy is for what is wrong: %+v", r)
		}
	}
	return code, results, nil
}

// awaitCheck waits until a check has a result of this level with this text, and the command this exit
// code.
func (c *cluster) awaitCheck(t *testing.T, code int, check, level, message string, args ...string) (results []checkResult) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("a %s of %s", level, check), func() error {
		got, all, err := c.check(t, args...)
		if err != nil {
			return err
		}
		results = all
		is := func(r checkResult) bool {
			return r.Check == check && r.Level == level && strings.Contains(r.Message, message)
		}
		if got != code || !slices.ContainsFunc(all, is) {
			return fmt.Errorf("exit code %d, results %+v", got, all)
		}
		return nil
	})
	return results
}

// beforeInstallation expects the checks to work with a kubeconfig alone.
func (c *cluster) beforeInstallation(t *testing.T) {
	c.awaitCheck(t, 0, "create", "ok", "you may create", "--pre")
	c.awaitCheck(t, 0, "node-labels", "ok", "2 nodes of 2 types", "--pre")
	c.awaitCheck(t, 0, "configmap", "warning", "there is no ConfigMap", "--pre")
	c.awaitCheck(t, 1, "service", "failure", "there is no Service")

	const label = "cloud.google.com/machine-family"
	administered(t, c, "kubectl label node n4-0 "+label+"-")
	c.awaitCheck(t, 0, "node-labels", "warning", "n4-0", "--pre")
	administered(t, c, "kubectl label node n4-0 "+label+"=n4")

	administered(t, c, "kubectl create namespace workload-resizer-system && kubectl -n workload-resizer-system create configmap workload-resizer-config --from-literal=config.yaml=nonsense")
	c.awaitCheck(t, 1, "configmap", "failure", "is invalid", "--pre")
	administered(t, c, "kubectl delete namespace workload-resizer-system")

	c.apply(t, []byte(vpaKind))
	c.namespace(t, "tuned")
	localcluster.Eventually(t, "the API server to accept VerticalPodAutoscalers", func() error {
		return localcluster.Apply(t.Context(), c.Config(), vpa("tuned", "Auto"))
	})
	c.awaitCheck(t, 0, "vertical-pod-autoscalers", "warning", "tuned/tuner", "--pre")
	c.apply(t, vpa("tuned", "Off"))
	c.awaitCheck(t, 0, "vertical-pod-autoscalers", "ok", "", "--pre")

	// A user with few rights.
	code, out, errOut := run(t, "resizectl", "check", "--pre", "--kubeconfig", c.user(t, "dora", "developers"))
	if code != 1 {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	wants(t, out, "failure  you may not create", "warning  kubelets: not checked", "HorizontalPodAutoscalers: not checked")
}

// oldKubelet adds a node whose kubelet is too old.
func (c *cluster) oldKubelet(t *testing.T) {
	administered(t, c, "kubectl create -f - <<< '{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"old\"}}'\n"+
		"kubectl patch node old --subresource=status --type=merge -p '{\"status\": {\"nodeInfo\": {\"kubeletVersion\": \"v1.32.4\"}}}'")
	c.awaitCheck(t, 0, "kubelet-versions", "warning", "old")
	administered(t, c, "kubectl delete node old")
	c.awaitCheck(t, 0, "kubelet-versions", "ok", "2 nodes")
}

// expired returns the certificate of an authority that is no longer valid.
func expired(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
