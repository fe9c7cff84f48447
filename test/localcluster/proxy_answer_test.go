package localcluster

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// newKubernetesClient returns a client of the API server behind the proxy. It prefers protobuf
// to JSON.
func newKubernetesClient(t *testing.T, p *Proxy) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host:            p.URL,
		TLSClientConfig: rest.TLSClientConfig{CAData: p.CA},
		ContentConfig:   rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestProxyAnswer(t *testing.T) {
	t.Run("the proxy responds like the API server", theProxyRespondsLikeTheAPIServer)
	t.Run("clients retry after too many requests", clientsRetryAfterTooManyRequests)
	t.Run("the proxy finds the object of a request", theProxyFindsTheObjectOfARequest)
}

func theProxyRespondsLikeTheAPIServer(t *testing.T) {
	for action, is := range map[Action]func(error) bool{
		AnswerForbidden:     apierrors.IsForbidden,
		AnswerConflict:      apierrors.IsConflict,
		AnswerInvalid:       apierrors.IsInvalid,
		AnswerInternalError: apierrors.IsInternalError,
		AnswerUnavailable:   apierrors.IsServiceUnavailable,
	} {
		t.Run(action.String(), func(t *testing.T) {
			var arrived atomic.Int32
			_, cfg := newBackend(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
			p := ProxyForTest(t, cfg, func(Write) Action { return action })
			p.Interfere(func(*http.Request) Action { return action })
			pods := newKubernetesClient(t, p).CoreV1().Pods("shop")
			if _, err := pods.Patch(t.Context(), "web", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}, "resize"); !is(err) {
				t.Errorf("write: got %v", err)
			}
			if _, err := pods.List(t.Context(), metav1.ListOptions{}); !is(err) {
				t.Errorf("list: got %v", err)
			}
			if got := arrived.Load(); got != 0 {
				t.Errorf("the API server got %d requests, want none", got)
			}
		})
	}
}

func clientsRetryAfterTooManyRequests(t *testing.T) {
	var arrived atomic.Int32
	_, cfg := newBackend(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		respond(w, http.StatusOK, &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
	})
	p := ProxyForTest(t, cfg, func(w Write) Action {
		if w.N == 1 {
			return AnswerTooManyRequests
		}
		return Forward
	})
	if _, err := newKubernetesClient(t, p).CoreV1().Pods("shop").Patch(t.Context(), "web", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if p.Writes() != 2 || arrived.Load() != 1 {
		t.Errorf("the proxy got %d writes and the API server %d, want 2 and 1", p.Writes(), arrived.Load())
	}
}

func TestProxyBreaksWatches(t *testing.T) {
	_, cfg := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		fmt.Fprintln(w, `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}}`)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	})
	for action, want := range map[Action][]watch.EventType{
		CutWhileForwarding: {watch.Added},
		ExpireWatch:        {watch.Error},
	} {
		t.Run(action.String(), func(t *testing.T) {
			p := ProxyForTest(t, cfg, nil)
			p.Interfere(func(*http.Request) Action { return action })
			events, err := newKubernetesClient(t, p).CoreV1().Pods("shop").Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []watch.EventType
			for event := range events.ResultChan() {
				if event.Type == watch.Error && !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
					continue // The error for a broken connection depends on the client.
				}
				got = append(got, event.Type)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v before the end, want %v", got, want)
			}
		})
	}
}

func theProxyFindsTheObjectOfARequest(t *testing.T) {
	for path, want := range map[string]struct {
		resource schema.GroupResource
		name     string
	}{
		podPath + "/resize":                         {schema.GroupResource{Resource: "pods"}, "web"},
		"/api/v1/namespaces/shop/pods":              {schema.GroupResource{Resource: "pods"}, ""},
		"/api/v1/pods":                              {schema.GroupResource{Resource: "pods"}, ""},
		"/api/v1/nodes/n4-0":                        {schema.GroupResource{Resource: "nodes"}, "n4-0"},
		"/api/v1/namespaces/shop":                   {schema.GroupResource{Resource: "namespaces"}, "shop"},
		"/apis/apps/v1/namespaces/shop/deployments": {schema.GroupResource{Group: "apps", Resource: "deployments"}, ""},
		"/version":                                  {schema.GroupResource{Resource: "version"}, ""},
	} {
		if resource, name := object(path); resource != want.resource || name != want.name {
			t.Errorf("%s: got %v %q, want %v %q", path, resource, name, want.resource, want.name)
		}
	}
}
