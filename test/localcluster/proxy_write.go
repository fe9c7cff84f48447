package localcluster

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Write is a write of pods on its way to the API server.
type Write struct {
	// N counts the writes, from 1 in the order of their arrival.
	N int
	// Method is PATCH, PUT, POST or DELETE.
	Method string
	// Namespace, Pod and Subresource are from the path; Pod is empty where a
	// pod is created or many are deleted, Subresource mostly.
	Namespace, Pod, Subresource string
	// Body is the request's.
	Body []byte
}

// podWrite returns what a request writes, if it writes pods.
func podWrite(r *http.Request) (Write, bool) {
	switch r.Method {
	case http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete:
	default:
		return Write{}, false
	}
	// /api/v1/namespaces/NAMESPACE/pods[/POD[/SUBRESOURCE]]
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 || parts[1] != "pods" {
		return Write{}, false
	}
	write := Write{Method: r.Method, Namespace: parts[0]}
	if len(parts) > 2 {
		write.Pod = parts[2]
	}
	if len(parts) > 3 {
		write.Subresource = strings.Join(parts[3:], "/")
	}
	return write, true
}

// readBody reads the body of a request and leaves the request with the same
// body to be read again.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return body, nil
}
