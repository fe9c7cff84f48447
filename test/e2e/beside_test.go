package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	known "github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestBeside sizes pods at their creation next to others that change pods then, or that judge them.
func TestBeside(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	c.install(t)
	c.apply(t, withN4("1.25"), []byte(createdNamespace), definitions(t))
	s := c.serveCreating(t, c.webhook(t))
	t.Run("injectors before and after it", func(t *testing.T) { c.besideInjectors(t, s) })
	t.Run("the admission controller of the Vertical Pod Autoscaler", func(t *testing.T) { c.besideAutoscaler(t, s) })
	t.Run("Pod Security, and containers for debugging", func(t *testing.T) { c.besideRestrictions(t, s) })
	t.Run("the defaults of a LimitRange", c.besideDefaults)
	t.Run("a flood of pods with very many containers", c.besideFlood)
	t.Run("limits and quotas", func(t *testing.T) { c.besideLimits(t, s) })
}

// besideInjectors lets other webhooks add a container, or change the size that a pod has got.
func (c *cluster) besideInjectors(t *testing.T, s *server) {
	addsProxy := func(p *corev1.PodSpec) bool {
		if len(p.Containers) > 1 {
			return false
		}
		p.Containers = append(p.Containers, corev1.Container{Name: "proxy", Image: "none", Resources: corev1.ResourceRequirements{Requests: amounts(small), Limits: amounts(small)}})
		return true
	}
	doubles := func(p *corev1.PodSpec) bool {
		r := &p.Containers[0].Resources
		if r.Requests.Cpu().String() != "80m" {
			return false
		}
		r.Requests[corev1.ResourceCPU], r.Limits[corev1.ResourceCPU] = resource.MustParse("200m"), resource.MustParse("200m")
		return true
	}
	for _, tc := range []struct {
		namespace, webhook string
		change             func(*corev1.PodSpec) bool
		// cpu is what containers request, and original what their author, or the other webhook, wrote.
		cpu, original map[string]string
	}{
		{"injected-before", "a-before", addsProxy, map[string]string{"app": "80m", "proxy": "80m"}, map[string]string{"app": "100m", "proxy": "100m"}},
		{"injected-after", "z-after", addsProxy, map[string]string{"app": "80m", "proxy": "80m"}, map[string]string{"app": "100m", "proxy": "100m"}},
		{"changed-after", "z-changes", doubles, map[string]string{"app": "160m"}, map[string]string{"app": "200m"}},
	} {
		c.namespace(t, tc.namespace)
		c.inject(t, tc.webhook, tc.namespace, tc.change)
		c.deploy(t, tc.namespace, app{name: "web", nodeType: "n4", requests: small})
		c.awaitSettled(t, s, tc.namespace)
		p := c.one(t, tc.namespace, "web")
		unresized(t, p)
		for _, of := range p.Spec.Containers {
			if cpu, original := text(of.Resources.Requests, corev1.ResourceCPU), p.Annotations[contract.OriginalPrefix+"cpu."+of.Name]; cpu != tc.cpu[of.Name] || original != tc.original[of.Name] {
				t.Errorf("%s: container %s requests %s, of originally %s; want %v of %v", tc.namespace, of.Name, cpu, original, tc.cpu, tc.original)
			}
		}
		s.resizectl(t, 0, "restore", "-n", tc.namespace)
		localcluster.Eventually(t, "the originals", func() error {
			p := c.one(t, tc.namespace, "web")
			for _, of := range p.Spec.Containers {
				if cpu := text(of.Resources.Requests, corev1.ResourceCPU); cpu != tc.original[of.Name] {
					return fmt.Errorf("container %s requests %s", of.Name, cpu)
				}
			}
			if left := ours(p.Annotations); len(left) > 0 {
				return fmt.Errorf("it is annotated with %v", left)
			}
			return nil
		})
	}
}

// inject runs a webhook that changes the pods in a namespace while they are created. The API server asks webhooks in the order
// of their names.
func (c *cluster) inject(t *testing.T, name, namespace string, change func(*corev1.PodSpec) bool) {
	t.Helper()
	certificate, authority := issued(t, time.Now().Add(time.Hour))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var p corev1.Pod
		if err := errors.Join(json.NewDecoder(r.Body).Decode(&review), json.Unmarshal(review.Request.Object.Raw, &p)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		if change(&p.Spec) {
			patch, err := json.Marshal([]any{map[string]any{"op": "replace", "path": "/spec/containers", "value": p.Spec.Containers}})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			kind := admissionv1.PatchTypeJSONPatch
			review.Response.Patch, review.Response.PatchType = patch, &kind
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	url, fail, none := "https://localhost:"+port, admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	configurations := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := configurations.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name + ".example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the API server to ask "+name, func() error {
		p, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}, Spec: app{name: "probe", requests: [2]string{"80m", "64Mi"}}.deployment().Spec.Template.Spec,
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if len(p.Spec.Containers) == 1 && text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) == "80m" {
			return errors.New("it does not")
		}
		return nil
	})
}

// besideAutoscaler runs the webhook of the Vertical Pod Autoscaler, which sizes what its objects name.
func (c *cluster) besideAutoscaler(t *testing.T, s *server) {
	const namespace = "tuned"
	c.namespace(t, namespace)
	certificate, err := localcluster.ServingCertificate(t.TempDir(), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	address, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	const gates = "--feature-gates=CPUStartupBoost=true"
	c.ProgramForTest(t, "vpa-admission-controller", gates, "--register-by-url", "--webhook-address=https://localhost", "--webhook-port="+port, "--port="+port,
		"--client-ca-file="+certificate.CertFile, "--tls-cert-file="+certificate.CertFile, "--tls-private-key="+certificate.KeyFile)
	u := &tunedCluster{cluster: c, vpas: dynamic.NewForConfigOrDie(c.Config()).Resource(known.VPAResource).Namespace(namespace)}
	for name, spec := range map[string][2]string{
		"theirs": {"Recreate", ""}, "watched": {"Off", ""}, "initial": {"Initial", ""},
		"shared": {"Recreate", "resourcePolicy: {containerPolicies: [{containerName: app, controlledResources: [memory]}]}"},
	} {
		c.apply(t, tuner(name, "default", spec[0], spec[1]))
		u.recommend(t, name, map[bool]string{false: `{"cpu": "300m", "memory": "128Mi"}`, true: `{"memory": "128Mi"}`}[name == "shared"])
	}
	c.deploy(t, namespace, app{name: "theirs", nodeType: "n4", requests: small})
	u.awaitCreatedWith(t, "theirs", corev1.ResourceCPU, "300m")
	c.deploy(t, namespace, app{name: "watched", nodeType: "n4", requests: small}, app{name: "shared", nodeType: "n4", requests: small},
		app{name: "initial", nodeType: "n4", requests: small})
	u.awaitCreatedWith(t, "shared", corev1.ResourceMemory, "128Mi")
	u.awaitCreatedWith(t, "initial", corev1.ResourceMemory, "128Mi")
	theirs, watched, shared := c.one(t, namespace, "theirs"), c.one(t, namespace, "watched"), c.one(t, namespace, "shared")
	s.awaitReason(t, theirs, workloadresizerv1.Decision_DECISION_SKIP, "ActiveVPA")
	c.awaitSettled(t, s, namespace)
	for _, tc := range []struct {
		pod                   *corev1.Pod
		cpu, memory, original string
	}{{theirs, "300m", "128Mi", ""}, {watched, "80m", "64Mi", "100m"}, {shared, "80m", "128Mi", "100m"},
		// An autoscaler that sizes pods only at their creation writes what they need on the baseline.
		{c.one(t, namespace, "initial"), "240m", "128Mi", "300m"}} {
		unresized(t, tc.pod)
		r := tc.pod.Spec.Containers[0].Resources.Requests
		if cpu, memory, original := text(r, corev1.ResourceCPU), text(r, corev1.ResourceMemory), tc.pod.Annotations[contract.OriginalPrefix+"cpu.app"]; cpu != tc.cpu || memory != tc.memory || original != tc.original {
			t.Errorf("pod %s requests %s and %s, of originally %q cpu, want %s and %s, of %q", tc.pod.Name, cpu, memory, original, tc.cpu, tc.memory, tc.original)
		}
	}
	// The cpu that it raises while a pod starts, and lowers later, is not the author's.
	c.apply(t, tuner("starting", "default", "Off", "startupBoost: {cpu: {type: Factor, factor: 3, durationSeconds: 10}}"))
	c.deploy(t, namespace, app{name: "starting", nodeType: "n4", requests: small})
	u.awaitCreatedWith(t, "starting", corev1.ResourceCPU, "300m")
	s.awaitReason(t, c.one(t, namespace, "starting"), workloadresizerv1.Decision_DECISION_SKIP, "ActiveVPA")
	// It needs a moment to see what it has written. Until then, it would write it again, over what the server has written.
	c.ProgramForTest(t, "vpa-updater", gates, "--updater-interval", "5s", "--use-admission-controller-status=false", "--min-replicas", "1")
	c.awaitCPU(t, namespace, "starting", "80m")
	s.resizectl(t, 0, "restore", "-n", namespace, "deployment/starting")
	localcluster.Eventually(t, "what its author wrote", func() error {
		if cpu := text(c.one(t, namespace, "starting").Spec.Containers[0].Resources.Requests, corev1.ResourceCPU); cpu != "100m" {
			return fmt.Errorf("it requests %s", cpu)
		}
		return nil
	})
}

// awaitCreatedWith waits until the Vertical Pod Autoscaler gives a pod so much of a resource at its creation, and deletes the
// others: it may not know yet what it should.
func (u *tunedCluster) awaitCreatedWith(t *testing.T, app string, name corev1.ResourceName, amount string) {
	t.Helper()
	const namespace = "tuned"
	localcluster.Eventually(t, fmt.Sprintf("a pod of %s to be created with %s of %s", app, amount, name), func() error {
		for _, p := range u.of(t, namespace, app) {
			if text(p.Spec.Containers[0].Resources.Requests, name) == amount {
				return nil
			}
			if err := u.client.CoreV1().Pods(namespace).Delete(t.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		return errors.New("there is none")
	})
	u.awaitDeployed(t, namespace)
}

// besideRestrictions creates a pod in a namespace with the strictest standard, and attaches a container to it.
func (c *cluster) besideRestrictions(t *testing.T, s *server) {
	const namespace = "restricted"
	c.apply(t, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: restricted, labels: {pod-security.kubernetes.io/enforce: restricted}}\n"))
	web := app{name: "web", nodeType: "n4", requests: small}.deployment()
	yes, no, user := true, false, int64(1000)
	web.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	web.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	c.create(t, namespace, web)
	c.awaitSettled(t, s, namespace)
	p := c.one(t, namespace, "web")
	unresized(t, p)
	if err := hasCPU(p, "80m"); err != nil {
		t.Error(err)
	}
	out, err := localcluster.Shell(t.Context(), c.Kubeconfig, "kubectl debug -n "+namespace+" "+p.Name+" --image=none --target=app --container=debugger --profile=restricted")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "web", "63m")
	p = c.one(t, namespace, "web")
	if len(p.Spec.EphemeralContainers) != 1 || p.Annotations[contract.OriginalPrefix+"cpu.app"] != "100m" {
		t.Errorf("it has %d containers for debugging, and %v", len(p.Spec.EphemeralContainers), p.Annotations)
	}
	c.reconfigure(t, s, withN4("1.25"))
}

// besideDefaults creates a pod without requests where a LimitRange has defaults, which are then what its author wrote.
func (c *cluster) besideDefaults(t *testing.T) {
	const namespace = "defaults"
	c.namespace(t, namespace)
	c.apply(t, []byte(`
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: defaults}
spec: {limits: [{type: Container, defaultRequest: {cpu: 100m, memory: 64Mi}, default: {cpu: 200m, memory: 64Mi}}]}
`))
	web := app{name: "web", nodeType: "n4", requests: small}.deployment()
	web.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	c.create(t, namespace, web)
	p := c.one(t, namespace, "web")
	unresized(t, p)
	if got, want := texts(p.Spec.Containers[0].Resources), [4]string{"80m", "160m", "64Mi", "64Mi"}; got != want {
		t.Errorf("it has %v, want %v", got, want)
	}
	if got := p.Annotations[contract.OriginalPrefix+"cpu.app"]; got != "100m" {
		t.Errorf("the original is %q", got)
	}
}

// besideLimits creates pods that need twice as much as their author wrote, but may not get all of that.
func (c *cluster) besideLimits(t *testing.T, s *server) {
	c.reconfigure(t, s, withN4("0.5"))
	c.namespace(t, "limited")
	c.namespace(t, "counted")
	c.apply(t, []byte(`
apiVersion: v1
kind: LimitRange
metadata: {name: most, namespace: limited}
spec: {limits: [{type: Container, max: {cpu: 150m}, default: {cpu: 100m}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: most, namespace: counted}
spec: {hard: {requests.cpu: 320m}}
`))
	c.deploy(t, "limited", app{name: "web", nodeType: "n4", requests: small})
	p := c.one(t, "limited", "web")
	if err := hasCPU(p, "150m"); err != nil {
		t.Error(err)
	}
	s.awaitReason(t, p, workloadresizerv1.Decision_DECISION_SKIP, "LimitRangeViolation")
	localcluster.Eventually(t, "the quota to be counted", func() error {
		quota, err := c.client.CoreV1().ResourceQuotas("counted").Get(t.Context(), "most", metav1.GetOptions{})
		if err == nil && len(quota.Status.Hard) == 0 {
			err = errors.New("it is not yet")
		}
		return err
	})
	c.deploy(t, "counted", app{name: "web", nodeType: "n4", requests: small, replicas: 2})
	var cpu []string
	for _, p := range c.of(t, "counted", "web") {
		cpu = append(cpu, text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU))
		unresized(t, &p)
	}
	if slices.Sort(cpu); !slices.Equal(cpu, []string{"120m", "200m"}) {
		t.Errorf("they request %v, want as much as the quota allows", cpu)
	}
}

// besideFlood creates pods while others ask for pods that take very long to plan. These are created, and have their sizes soon.
func (c *cluster) besideFlood(t *testing.T) {
	const namespace = "flooded"
	c.namespace(t, namespace)
	yes := true
	giant := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "giant-", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "giant", UID: "giant", Controller: &yes}}},
		Spec:       app{name: "giant", nodeType: "n4", requests: small}.deployment().Spec.Template.Spec,
	}
	for n := range 249 {
		more := *giant.Spec.Containers[0].DeepCopy()
		more.Name = fmt.Sprint("app-", n)
		giant.Spec.Containers = append(giant.Spec.Containers, more)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	var sized, created atomic.Int64
	for range 8 {
		flood.Go(func() {
			for ctx.Err() == nil {
				p, err := c.client.CoreV1().Pods("created").Create(ctx, giant, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				switch {
				case ctx.Err() != nil:
				case err != nil:
					t.Error(err)
					return
				default:
					created.Add(1)
					if text(p.Spec.Containers[249].Resources.Requests, corev1.ResourceCPU) == "80m" {
						sized.Add(1)
					}
				}
			}
		})
	}
	var slowest time.Duration
	for created.Load() < 100 {
		began := time.Now()
		if _, err := c.probe(t); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(began))
	}
	c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small, replicas: 5})
	c.awaitCPU(t, namespace, "web", "80m")
	cancel()
	flood.Wait()
	t.Logf("of %d pods with 250 containers, %d were sized; another pod was created within %s meanwhile", created.Load(), sized.Load(), slowest.Round(time.Millisecond))
}

// create creates a Deployment of one pod, and waits until it runs.
func (c *cluster) create(t *testing.T, namespace string, d *appsv1.Deployment) {
	t.Helper()
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitDeployed(t, namespace)
}
