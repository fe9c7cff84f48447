package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/creation"
)

const (
	// Path is where the API server asks. A token follows it.
	Path = "/size-at-creation/"
	// maxBody limits a request. An object has at most 1.5 MiB in the store of the API server, and more as JSON.
	maxBody = 4 << 20
	// maxContainers is how many containers a pod may have to be sized while it is being created. Plans of many more take
	// longer than the API server waits.
	maxContainers = 250
)

// Sizer decides what to do to a pod that is being created.
type Sizer interface {
	Size(object *corev1.Pod, namespace string, request types.UID) creation.Sized
}

// handler answers the API server.
type handler struct {
	sizer   Sizer
	metrics *metrics
	// issued reports whether a token is the one that the API server was told. Anyone else could have records signed for pods
	// that were never sized.
	issued func(token string) bool
	// own is the namespace of the server, whose pods are never sized.
	own string
	// dryRun means that pods are not changed.
	dryRun bool
	// busy has a place for each request that is being answered.
	busy chan struct{}
	now  func() time.Time
}

// patience is how long a request waits while others are being answered. The API server waits for a second.
const patience = 500 * time.Millisecond

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := h.now()
	if !h.issued(r.PathValue("token")) {
		h.metrics.of(refused, h.now().Sub(began))
		http.Error(w, "only the API server may ask, with the path in the MutatingWebhookConfiguration", http.StatusForbidden)
		return
	}
	place := time.NewTimer(patience)
	defer place.Stop()
	select {
	case h.busy <- struct{}{}:
		defer func() { <-h.busy }()
	case <-place.C:
		h.metrics.of(overloaded, h.now().Sub(began))
		http.Error(w, "too many pods are being created", http.StatusServiceUnavailable)
		return
	case <-r.Context().Done():
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		h.reject(w, began, fmt.Errorf("read the request: %w", err))
		return
	}
	var review admissionv1.AdmissionReview
	err = json.Unmarshal(body, &review)
	if err == nil && review.Request == nil {
		err = errors.New("it has no request")
	}
	if err != nil {
		h.reject(w, began, fmt.Errorf("the body is not an AdmissionReview: %w", err))
		return
	}
	response, as := h.answer(r, review.Request)
	response.UID = review.Request.UID
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(&review); err != nil {
		klog.FromContext(r.Context()).V(1).Info("The API server did not read an answer", "err", err)
	}
	h.metrics.of(as, h.now().Sub(began))
}

// reject answers a request that cannot be read.
func (h *handler) reject(w http.ResponseWriter, began time.Time, err error) {
	h.metrics.of(failed, h.now().Sub(began))
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// answer returns what to do to the pod of a request. It always allows it.
func (h *handler) answer(r *http.Request, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, result) {
	allowed := &admissionv1.AdmissionResponse{Allowed: true}
	if request.Kind.Group != "" || request.Kind.Kind != "Pod" || request.Operation != admissionv1.Create || request.SubResource != "" || request.Namespace == h.own {
		return allowed, unchanged
	}
	logger := klog.FromContext(r.Context()).WithValues("namespace", request.Namespace, "uid", request.UID)
	var object corev1.Pod
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		logger.Error(err, "A pod that is being created cannot be read")
		return allowed, failed
	}
	if n := len(object.Spec.Containers) + len(object.Spec.InitContainers); n > maxContainers {
		logger.V(1).Info("Pod not sized at its creation", "containers", n, "most", maxContainers)
		return allowed, unchanged
	}
	sized := h.sizer.Size(&object, request.Namespace, request.UID)
	if sized.Pod == nil {
		logger.V(2).Info("Pod not sized at its creation", "generateName", object.GenerateName, "name", object.Name, "why", sized.Why)
		return allowed, unchanged
	}
	patch, err := json.Marshal(patchOf(&object, sized.Pod))
	if err != nil {
		logger.Error(err, "The patch for a pod that is being created cannot be encoded")
		return allowed, failed
	}
	if h.dryRun {
		logger.Info("Pod would be changed at its creation (dry run)", "generateName", object.GenerateName, "name", object.Name, "why", sized.Why)
		return allowed, unchanged
	}
	kind := admissionv1.PatchTypeJSONPatch
	allowed.Patch, allowed.PatchType = patch, &kind
	if sized.Why != "" {
		return allowed, unchanged // Only records that describe another pod were removed.
	}
	if request.DryRun == nil || !*request.DryRun {
		logger.Info("Pod sized at its creation", "generateName", object.GenerateName, "name", object.Name, "nodeType", sized.Plan.NodeType,
			"because", sized.Placement.Why, "containers", sized.Plan.Describe(), "demand", sized.Plan.Demands())
	}
	return allowed, given
}
