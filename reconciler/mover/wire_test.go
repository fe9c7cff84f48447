package mover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Calls of a leader.
const (
	readPod   = "read a pod"
	readBook  = "read the book"
	storeBook = "store the book"
	evictPod  = "evict a pod"
	writePod  = "write a pod"
)

// callOf returns which call a request is, and the pod that it is about; empty if it follows the book.
func callOf(q *http.Request) (call, pod string) {
	parts := strings.Split(strings.TrimPrefix(q.URL.Path, "/api/v1/namespaces/"), "/") // NAMESPACE/pods/POD/eviction
	read := q.Method == http.MethodGet
	switch {
	case len(parts) == 4 && parts[1] == "pods" && parts[3] == "eviction" && q.Method == http.MethodPost:
		return evictPod, parts[2]
	case len(parts) > 2 && parts[1] == "pods" && read:
		return readPod, parts[2]
	case len(parts) > 2 && parts[1] == "pods":
		return writePod, parts[2]
	case len(parts) == 3 && parts[1] == "configmaps" && read:
		return readBook, ""
	case parts[1] == "configmaps" && !read:
		return storeBook, ""
	}
	return "", ""
}

// wire brings the calls of one leader to the API server, unless the leader is killed, the connection breaks, or the API server
// is busy. The calls of a look are made one after the other.
type wire struct {
	*round
	next http.RoundTripper
	// dead means that the leader was killed.
	dead bool
}

var (
	errKilled = errors.New("the leader was killed")
	errLost   = errors.New("the connection was lost")
)

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(q *http.Request) (*http.Response, error) {
	call, name := callOf(q)
	if call == "" {
		return w.next.RoundTrip(q)
	}
	write := call == evictPod || call == storeBook
	switch {
	case w.dead:
		return nil, errKilled
	case w.freezesAfter > 0 && call != evictPod: // That was permitted right before.
		if w.freezesAfter--; w.freezesAfter == 0 {
			w.frozen = true
		}
	}
	switch {
	case w.dry && call != readPod:
		w.fatal("a dry run made a call: %s %s", q.Method, q.URL.Path)
	case call == evictPod && w.frozen:
		w.fatal("%s is evicted while the cluster is frozen", name)
	}
	switch w.IntN(300) {
	case 0, 1, 2:
		return nil, w.kill("before", call)
	case 3, 4:
		if !write {
			break
		}
		later, err := w.again(q)
		if err != nil {
			return nil, err
		}
		w.late = append(w.late, func() { w.send(call, name, later) })
		return nil, w.kill("while the API server received", call)
	case 5, 6, 7:
		w.happens("lost before", call)
		return nil, errLost
	case 8, 9, 10:
		w.happens("refused by a busy API server", call)
		return busyAnswer(q, []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}[w.IntN(3)]), nil
	case 11, 12, 13, 14, 15, 16, 17, 18, 19, 20:
		w.meddle(call, name)
	}
	response := w.send(call, name, q)
	switch w.IntN(100) {
	case 0:
		return nil, errors.Join(response.Body.Close(), w.kill("after", call))
	case 1:
		w.happens("lost after", call)
		return nil, errors.Join(response.Body.Close(), errLost)
	}
	return response, nil
}

// kill kills the leader.
func (w *wire) kill(when, call string) error {
	w.dead = true
	w.happens("killed "+when, call)
	return errKilled
}

// happens takes note of what happens to a call.
func (w *wire) happens(what, call string) {
	w.note("%s: %s", what, call)
	w.tally.add(what + ": " + call)
}

// again returns a copy of a request that is sent later.
func (w *wire) again(q *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	later := q.Clone(context.WithoutCancel(q.Context()))
	later.Body = io.NopCloser(bytes.NewReader(body))
	return later, nil
}

// meddle lets somebody change what a call is about, right before the API server receives it: the book, or the pod, which is
// deleted or must stay from then on.
func (w *wire) meddle(call, name string) {
	switch p := w.pods[name]; {
	case call == storeBook:
		body := fmt.Appendf(nil, `{"metadata":{"annotations":{"meddled":"%d"}}}`, w.cluster.Clock.Now().UnixNano())
		w.must(w.client.CoreV1().ConfigMaps(w.namespace).Patch(w.Context(), storeName, types.MergePatchType, body, metav1.PatchOptions{}))
	case call != evictPod || p == nil:
		return
	case w.IntN(4) == 0:
		w.end(p)
		w.leave(p)
		delete(w.pods, name)
	case isReady(p) || !w.serviceOf(p).budget: // For other pods, the API server ignores what somebody changed in between; see actuate.Evict.
		w.pin(p, true)
	default:
		return
	}
	w.happens("changed right before", call)
}

// send lets the API server answer a call, and checks that it may do what it did.
func (w *wire) send(call, name string, q *http.Request) *http.Response {
	response, err := w.next.RoundTrip(q)
	if err != nil {
		w.fatal("%s %s: %v", q.Method, q.URL.Path, err)
	}
	w.note("%s %s: %s", call, name, response.Status)
	done := response.StatusCode < http.StatusMultipleChoices
	switch {
	case (call == evictPod || call == writePod) && done:
		w.evicted(name)
	case call == evictPod && response.StatusCode == http.StatusTooManyRequests:
		w.tally.add("refused by a budget")
	case call == evictPod || call == storeBook && !done:
		w.tally.add(fmt.Sprintf("answered with %d: %s", response.StatusCode, call))
	}
	return response
}

// busyAnswer returns an answer of an API server that is busy. Only those who write are asked to wait, since others would do
// so here.
func busyAnswer(q *http.Request, code int) *http.Response {
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"busy","code":%d}`, code)
	answer := &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: q}
	if call, _ := callOf(q); call == evictPod {
		answer.Header.Set("Retry-After", "3")
	}
	return answer
}

// leave takes note that a pod is gone or being deleted.
func (r *round) leave(p *corev1.Pod) {
	r.left[p.UID] = r.cluster.Clock.Now()
	r.serviceOf(p).changed = true
	if *p.Spec.TerminationGracePeriodSeconds == 0 {
		delete(r.pods, p.Name)
		return
	}
	going := p.DeepCopy()
	going.DeletionTimestamp = new(metav1.NewTime(r.cluster.Clock.Now()))
	r.pods[p.Name] = going
}
