package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestCreation sizes pods while they are created.
func TestCreation(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1,c3=1"))
	c.install(t)
	c.apply(t, withN4("1.25"), []byte(createdNamespace))
	address := c.webhook(t)
	s := c.serveCreating(t, address)
	t.Run("pods that name their node or its type start with their size", func(t *testing.T) { c.startSized(t, s) })
	t.Run("only the API server is answered", c.answersNobodyElse)
	t.Run("the originals stay known", func(t *testing.T) { c.knowsOriginals(t, s) })
	t.Run("copied records have no effect", c.copiedRecords)
	t.Run("a pod that no node has room for gets what its author wrote", func(t *testing.T) { c.withoutRoom(t, s) })
	t.Run("pods start without a server, and are resized once there is one", func(t *testing.T) { c.withoutServer(t, s, address) })
}

// createdNamespace is the namespace of the pods.
const createdNamespace = `
apiVersion: v1
kind: Namespace
metadata: { name: created }
`

// webhook lets the API server ask a server at the address that it returns. It cannot reach Services in this cluster.
func (c *cluster) webhook(t *testing.T) string {
	t.Helper()
	address, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	for _, manifest := range deploy.SizeAtCreation() {
		before, after, found := strings.Cut(string(manifest), "      service:\n")
		if found {
			_, after, _ = strings.Cut(after, "        port: 9443\n")
			manifest = []byte(before + "      url: https://localhost:" + port + "\n" + after)
		}
		c.apply(t, manifest)
	}
	return address
}

// serveCreating starts a server that sizes pods at their creation, and waits until it does.
func (c *cluster) serveCreating(t *testing.T, address string, more ...string) *server {
	t.Helper()
	s := c.serveReady(t, append(more, "--size-at-creation", "--webhook-bind-address="+address, "--tls-dns-names=localhost,"+serverName)...)
	localcluster.Eventually(t, "pods to be sized at their creation", func() error {
		if cpu, err := c.probe(t); err != nil || cpu != "80m" {
			return fmt.Errorf("it requests %q: %w", cpu, err)
		}
		return nil
	})
	return s
}

// probe returns the cpu that a pod for an n4 would request, of which its author wrote 100m.
func (c *cluster) probe(t *testing.T) (cpu string, err error) {
	yes := true
	p, err := c.client.CoreV1().Pods("created").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "probe", UID: "probe", Controller: &yes}}},
		Spec:       app{name: "probe", nodeType: "n4", requests: small}.deployment().Spec.Template.Spec,
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", err
	}
	return text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU), nil
}

// unresized checks that the server has not resized a pod, and has annotated it only at its creation.
func unresized(t *testing.T, p *corev1.Pod) {
	t.Helper()
	if slices.ContainsFunc(p.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == contract.FieldManager }) {
		t.Errorf("the server has written pod %s", p.Name)
	}
	if p.Generation != 1 {
		t.Errorf("pod %s has generation %d, want 1", p.Name, p.Generation)
	}
}

func (c *cluster) startSized(t *testing.T, s *server) {
	const namespace = "created"
	deployed := app{name: "agent", requests: small}.deployment()
	if _, err := c.client.AppsV1().DaemonSets(namespace).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: deployed.ObjectMeta, Spec: appsv1.DaemonSetSpec{Selector: deployed.Spec.Selector, Template: deployed.Spec.Template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []app{{name: "web", nodeType: "n4", requests: small, replicas: 2}, {name: "anywhere", requests: small}} {
		if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), a.deployment(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitRunning(t, namespace, 6)
	c.awaitSettled(t, s, namespace)
	cpu := map[string]string{"n2d-0": "100m", "n4-0": "80m", "c3-0": c.cpuOnC3(t, s)}
	for _, p := range c.of(t, namespace, "agent") {
		if err := hasCPU(&p, cpu[p.Spec.NodeName]); err != nil {
			t.Error(err)
		}
		if p.Spec.NodeName != "n2d-0" { // It is annotated as aligned.
			unresized(t, &p)
		}
	}
	for _, p := range c.of(t, namespace, "web") {
		if err := hasCPU(&p, "80m"); err != nil {
			t.Error(err)
		}
		unresized(t, &p)
	}
	wants(t, s.resizectl(t, 0, "resizes", "list", "-n", namespace), "web-", "actuated")
	web := c.of(t, namespace, "web")[0]
	wants(t, s.resizectl(t, 0, "explain", "-n", namespace, web.Name), "100m")
	c.awaitEvent(t, namespace, web.UID, "Resized", "at its creation, for node type n4 (requests are written for n2d): app: cpu 100m → 80m")
}

// answersNobodyElse checks that the server answers at the path that it has told the API server, and at no other.
func (c *cluster) answersNobodyElse(t *testing.T) {
	configuration, err := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "workload-resizer-size-at-creation", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := configuration.Webhooks[0].ClientConfig
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(told.CABundle)
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}}}
	defer caller.CloseIdleConnections()
	for at, want := range map[string]int{
		*told.URL:       http.StatusBadRequest, // The body is not an AdmissionReview.
		*told.URL + "A": http.StatusForbidden,
		(*told.URL)[:strings.LastIndex(*told.URL, "/")+1]: http.StatusNotFound,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader("nonsense"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := caller.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", at, answer.StatusCode, want)
		}
		_ = answer.Body.Close()
	}
}

// cpuOnC3 returns what a pod that requests 100m requests on a c3.
func (c *cluster) cpuOnC3(t *testing.T, s *server) string {
	t.Helper()
	for _, p := range c.of(t, "created", "agent") {
		if p.Spec.NodeName == "c3-0" {
			plan, err := s.api.PreviewPod(t.Context(), p.Namespace, p.Name)
			if err != nil {
				t.Fatal(err)
			}
			return plan.GetContainers()[0].GetDesired().GetRequests()["cpu"]
		}
	}
	t.Fatal("there is no pod on c3-0")
	return ""
}

func (c *cluster) knowsOriginals(t *testing.T, s *server) {
	const namespace = "created"
	c.reconfigure(t, s, withN4("1.6"))
	localcluster.Eventually(t, "the pods to be resized from what their author wrote", func() error {
		for _, p := range c.of(t, namespace, "web") {
			if err := hasCPU(&p, "63m"); err != nil {
				return err
			}
		}
		return nil
	})
	c.reconfigure(t, s, withN4("1.25"))
	wants(t, s.resizectl(t, 0, "restore", "-n", namespace), "0 to resize")
	localcluster.Eventually(t, "the nodes to complete the restore", func() error {
		for _, p := range c.pods(t, namespace) {
			if err := hasCPU(&p, "100m"); err != nil {
				return err
			}
			if left := ours(p.Annotations); len(left) > 0 {
				return fmt.Errorf("pod %s is still annotated with %v", p.Name, left)
			}
		}
		return nil
	})
	// New pods are not sized while the namespace is restored.
	web := c.of(t, namespace, "web")[0]
	if err := c.client.CoreV1().Pods(namespace).Delete(t.Context(), web.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the pod to be created again", func() error {
		pods := c.of(t, namespace, "web")
		if len(pods) != 2 || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == web.UID }) {
			return fmt.Errorf("there are %d pods", len(pods))
		}
		for _, p := range pods {
			if err := hasCPU(&p, "100m"); err != nil {
				return err
			}
		}
		return nil
	})
	s.resizectl(t, 0, "resume", "-n", namespace)
	c.awaitCPU(t, namespace, "web", "80m")
}

// copiedRecords creates a Deployment from the manifest of a running pod, with its sizes and annotations.
func (c *cluster) copiedRecords(t *testing.T) {
	const namespace = "copied"
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "source", nodeType: "n4", requests: small})
	from := c.one(t, namespace, "source")
	if from.Annotations[contract.CreatedSizes] == "" {
		t.Fatalf("the pod was not sized at its creation: %v", from.Annotations)
	}
	copied := app{name: "copied", nodeType: "n4", requests: [2]string{"80m", "64Mi"}, annotations: from.Annotations}
	c.deploy(t, namespace, copied)
	p := c.one(t, namespace, "copied")
	if err := hasCPU(p, "64m"); err != nil {
		t.Error(err)
	}
	if got := p.Annotations["workload-resizer.io/original-cpu.app"]; got != "80m" {
		t.Errorf("the original is %s, want 80m", got)
	}
	unresized(t, p)
}

// withoutRoom creates a pod that needs twice as much as its author wrote, which no node of its type has.
func (c *cluster) withoutRoom(t *testing.T, s *server) {
	const namespace = "wide"
	c.reconfigure(t, s, withN4("0.5"))
	c.namespace(t, namespace)
	wide := app{name: "wide", nodeType: "n4", requests: [2]string{"5", "64Mi"}, limits: [2]string{"6", "64Mi"}}
	c.deploy(t, namespace, wide)
	p := c.one(t, namespace, "wide")
	if err := hasCPU(p, "5"); err != nil {
		t.Error(err)
	}
	if limit := text(p.Spec.Containers[0].Resources.Limits, corev1.ResourceCPU); limit != "12" {
		t.Errorf("its limit is %s, want 12", limit)
	}
	if p.Annotations[contract.CreatedSizes] == "" {
		t.Error("it was not sized at its creation")
	}
	s.awaitReason(t, p, workloadresizerv1.Decision_DECISION_SKIP, "NodeCapacity")
	c.reconfigure(t, s, withN4("1.25"))
	c.awaitCPU(t, namespace, "wide", "4")
}

func (c *cluster) withoutServer(t *testing.T, s *server, address string) {
	const namespace = "late"
	c.namespace(t, namespace)
	c.deploy(t, namespace, app{name: "source", nodeType: "n4", requests: small})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.deploy(t, namespace, app{name: "late", nodeType: "n4", requests: small})
	t.Logf("the pod runs %s after its Deployment was created", time.Since(began).Round(time.Millisecond))
	if err := hasCPU(c.one(t, namespace, "late"), "100m"); err != nil {
		t.Error(err)
	}
	t.Run("nor with one that does not answer", func(t *testing.T) { c.withoutAnswer(t, address) })
	s = c.serveCreating(t, address)
	c.awaitCPU(t, namespace, "late", "80m")
	// The keys are the same, so the originals of pods that were sized before are still known.
	source := c.one(t, namespace, "source")
	localcluster.Eventually(t, "the plan of a pod that was sized at its creation", func() error {
		plan, err := s.api.PreviewPod(context.WithoutCancel(t.Context()), namespace, source.Name)
		if err != nil {
			return err
		}
		if got := plan.GetContainers()[0].GetOriginal().GetRequests()["cpu"]; got != "100m" {
			return errors.New("the original is " + got)
		}
		return nil
	})
}

// withoutAnswer puts other servers where the API server asks. Pods are created as their authors wrote them, and the server that
// follows makes the API server trust it again.
func (c *cluster) withoutAnswer(t *testing.T, address string) {
	const hour = time.Hour
	for _, tc := range []struct {
		name string
		// lasts is for how long the certificate is valid, and trusted means that the API server knows its authority.
		lasts   time.Duration
		trusted bool
		asked   bool
	}{
		{"it is slow", hour, true, true},
		{"its certificate has expired", -hour, true, false},
		{"its certificate is foreign", hour, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			certificate, authority := issued(t, time.Now().Add(tc.lasts))
			if tc.trusted {
				c.believe(t, authority)
			}
			var asked, met atomic.Int64
			listener := listening(t, address)
			s := &httptest.Server{Listener: counted{listener, &met}, Config: &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done() // The API server waits for a second.
			})}, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}}
			s.StartTLS()
			defer s.Close()
			c.probeUntil(t, func() bool { return met.Load() > 0 && (asked.Load() > 0) == tc.asked })
		})
	}
	t.Run("it hangs", func(t *testing.T) {
		listener := listening(t, address)
		defer func() { _ = listener.Close() }()
		var met atomic.Int64
		go func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				met.Add(1)
				defer func() { _ = connection.Close() }()
			}
		}()
		c.probeUntil(t, func() bool { return met.Load() > 0 })
	})
}

// counted counts the connections that it accepts.
type counted struct {
	net.Listener
	n *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	connection, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return connection, err
}

func listening(t *testing.T, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// probeUntil asks for pods until the server at the webhook's address has seen the API server ask, or try to.
func (c *cluster) probeUntil(t *testing.T, seen func() bool) {
	t.Helper()
	localcluster.Eventually(t, "the API server to ask", func() error {
		began := time.Now()
		if cpu, err := c.probe(t); err != nil || cpu != "100m" {
			t.Fatalf("the pod requests %q: %v", cpu, err)
		}
		if !seen() {
			return errors.New("it has not asked")
		}
		t.Logf("the pod is created after %s", time.Since(began).Round(time.Millisecond))
		return nil
	})
}

// believe makes the API server trust an authority.
func (c *cluster) believe(t *testing.T, authority []byte) {
	t.Helper()
	configurations := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	configuration, err := configurations.Get(t.Context(), "workload-resizer-size-at-creation", metav1.GetOptions{})
	if err == nil {
		configuration.Webhooks[0].ClientConfig.CABundle = authority
		_, err = configurations.Update(t.Context(), configuration, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// issued returns a certificate for localhost that is valid until a time, and its authority, which it is itself.
func issued(t *testing.T, until time.Time) (of tls.Certificate, authority []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(until.Unix()), NotBefore: until.Add(-24 * time.Hour), NotAfter: until, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
