package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/creation"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// halves halves the cpu of each first container.
type halves struct{ asked chan struct{} }

func (h halves) Size(object *corev1.Pod, _ string, _ types.UID) creation.Sized {
	if h.asked != nil {
		h.asked <- struct{}{}
	}
	to := object.DeepCopy()
	cpu := to.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
	to.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu.MilliValue()/2, resource.DecimalSI)
	return creation.Sized{Pod: to, Plan: &plan.Plan{}}
}

func newHandler(sizer Sizer, places int) *handler {
	return &handler{sizer: sizer, metrics: newMetrics(prometheus.NewRegistry(), func() error { return nil }), issued: func(token string) bool { return token == "known" }, own: "system", busy: make(chan struct{}, places), now: time.Now}
}

func podOf(n int) *corev1.Pod {
	p := &corev1.Pod{}
	for i := range n {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name:      fmt.Sprint("c", i),
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		})
	}
	return p
}

// review returns the request of the API server for a pod.
func review(t testing.TB, of *corev1.Pod, changes ...func(*admissionv1.AdmissionRequest)) []byte {
	t.Helper()
	raw, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	r := &admissionv1.AdmissionRequest{UID: "7", Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Operation: admissionv1.Create, Namespace: "shop", Object: runtime.RawExtension{Raw: raw}}
	for _, change := range changes {
		change(r)
	}
	body, err := json.Marshal(&admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: r})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// post posts a request, and returns the status and the body of the answer.
func post(h http.Handler, body []byte) (int, string) {
	return postWith(h, "known", body)
}

func postWith(h http.Handler, token string, body []byte) (int, string) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, Path+token, bytes.NewReader(body))
	r.SetPathValue("token", token)
	h.ServeHTTP(w, r)
	answer, _ := io.ReadAll(w.Body) // It never fails.
	return w.Code, string(answer)
}

func TestHandler(t *testing.T) {
	of := func(kind string) func(*admissionv1.AdmissionRequest) {
		return func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = kind }
	}
	for _, tc := range []struct {
		name string
		body []byte
		code int
		// patch is the patch of an answer that allows the pod; otherwise it is a part of an error.
		patch string
	}{
		{"a pod", review(t, podOf(2)), 200, `[{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"500m"}]`},
		{"as many containers as are sized", review(t, podOf(maxContainers)), 200, `[{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"500m"}]`},
		{"too many containers", review(t, podOf(maxContainers+1)), 200, ""},
		{"its own namespace", review(t, podOf(1), func(r *admissionv1.AdmissionRequest) { r.Namespace = "system" }), 200, ""},
		{"another kind", review(t, podOf(1), of("Deployment")), 200, ""},
		{"an update", review(t, podOf(1), func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update }), 200, ""},
		{"a subresource", review(t, podOf(1), func(r *admissionv1.AdmissionRequest) { r.SubResource = "eviction" }), 200, ""},
		{"a pod that cannot be read", review(t, podOf(1), func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"spec": 7}`) }), 200, ""},
		{"nonsense", []byte("nonsense"), 400, "not an AdmissionReview"},
		{"no request", []byte("{}"), 400, "the body is not an AdmissionReview: it has no request"},
		{"too long", bytes.Repeat([]byte(" "), maxBody+1), 400, "too large"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, body := post(newHandler(halves{}, 1), tc.body)
			if code != tc.code {
				t.Fatalf("status %d with %q, want %d", code, body, tc.code)
			}
			if code != 200 {
				if !strings.Contains(body, tc.patch) {
					t.Errorf("got %q, want %q", body, tc.patch)
				}
				return
			}
			var got admissionv1.AdmissionReview
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			if r := got.Response; got.Kind != "AdmissionReview" || r == nil || !r.Allowed || r.UID != "7" || string(r.Patch) != tc.patch || (r.PatchType != nil) != (tc.patch != "") {
				t.Errorf("got %s", body)
			}
		})
	}
}

func TestOnlyTheAPIServerIsAnswered(t *testing.T) {
	h := newHandler(halves{}, 0) // There is no place: a refused caller waits for none.
	for _, token := range []string{"", "unknown", "knownn"} {
		if code, body := postWith(h, token, review(t, podOf(1))); code != http.StatusForbidden || strings.Contains(body, "patch") {
			t.Errorf("token %q: status %d with %s", token, code, body)
		}
	}
}

func TestDryRun(t *testing.T) {
	h := newHandler(halves{}, 1)
	h.dryRun = true
	if code, body := post(h, review(t, podOf(1))); code != 200 || !strings.Contains(body, `"allowed":true`) || strings.Contains(body, "patch") {
		t.Errorf("status %d with %s", code, body)
	}
}

func TestOverload(t *testing.T) {
	asked := make(chan struct{})
	h := newHandler(halves{asked}, 1)
	first := make(chan int, 1)
	go func() {
		code, _ := post(h, review(t, podOf(1)))
		first <- code
	}()
	for len(h.busy) == 0 {
		time.Sleep(time.Millisecond)
	}
	if code, body := post(h, review(t, podOf(1))); code != http.StatusServiceUnavailable {
		t.Errorf("status %d with %q while another request is being answered, want 503", code, body)
	}
	<-asked
	if code := <-first; code != 200 {
		t.Errorf("status %d, want 200", code)
	}
}

func TestPatch(t *testing.T) {
	limited := func(p *corev1.Pod) *corev1.Pod {
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		p.Spec.InitContainers = []corev1.Container{{Name: "proxy", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}
		return p
	}
	from, to := limited(podOf(1)), limited(podOf(1))
	to.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("512Mi")
	to.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1000m") // The same amount.
	to.Spec.InitContainers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
	to.Annotations = map[string]string{"a/b~c": "1"}
	if got := text(t, patchOf(from, to)); got != `[{"op":"replace","path":"/spec/containers/0/resources/limits/memory","value":"512Mi"},`+
		`{"op":"replace","path":"/spec/initContainers/0/resources/limits/cpu","value":"2"},{"op":"add","path":"/metadata/annotations","value":{"a/b~c":"1"}}]` {
		t.Errorf("got %s", got)
	}
	from, to = podOf(1), podOf(1)
	from.Annotations = map[string]string{"stays": "1", "goes": "1", "a/b~c": "1"}
	to.Annotations = maps.Clone(from.Annotations)
	delete(to.Annotations, "goes")
	to.Annotations["a/b~c"], to.Annotations["new"] = "2", "1"
	if got := text(t, patchOf(from, to)); got != `[{"op":"remove","path":"/metadata/annotations/goes"},{"op":"add","path":"/metadata/annotations/a~1b~0c","value":"2"},{"op":"add","path":"/metadata/annotations/new","value":"1"}]` {
		t.Errorf("got %s", got)
	}
}

func text(t *testing.T, all []operation) string {
	t.Helper()
	got, err := json.Marshal(slices.Clip(all))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
