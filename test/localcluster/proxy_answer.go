package localcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// answer responds in place of the API server, with a Status like the API server's.
func answer(w http.ResponseWriter, r *http.Request, action Action) {
	status := failure(r, action).ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	respond(w, int(status.Code), &status)
}

func failure(r *http.Request, action Action) *apierrors.StatusError {
	resource, name := object(r.URL.Path)
	switch action {
	case AnswerForbidden:
		return apierrors.NewForbidden(resource, name, errors.New("the proxy forbids it"))
	case AnswerConflict:
		return apierrors.NewConflict(resource, name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case AnswerInvalid:
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, field.ErrorList{field.Forbidden(field.NewPath("spec"), "the proxy rejects it")})
	case AnswerTooManyRequests:
		return apierrors.NewTooManyRequests("too many requests, please try again later", 1)
	case AnswerInternalError:
		return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	case AnswerUnavailable:
		return apierrors.NewServiceUnavailable("apiserver not ready")
	}
	panic(fmt.Sprintf("localcluster: action %d is not a response", action))
}

// object returns the resource and name in a path of the API. The name is empty for a list.
func object(path string) (resource schema.GroupResource, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "apis" && len(parts) > 3: // apis/GROUP/VERSION/…
		resource.Group, parts = parts[1], parts[3:]
	case parts[0] == "api" && len(parts) > 2: // api/VERSION/…
		parts = parts[2:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource.Resource = parts[0]
	if len(parts) > 1 {
		name = parts[1]
	}
	return resource, name
}

// expire responds to a watch with only an error event: its resource version has expired.
func expire(w http.ResponseWriter) {
	status := apierrors.NewResourceExpired("too old resource version").ErrStatus
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	respond(w, http.StatusOK, &metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Object: &status}})
}

func respond(w http.ResponseWriter, code int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("localcluster: encode a response: %v", err))
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	// The client may have disconnected.
	_, _ = w.Write(append(text, '\n'))
}
