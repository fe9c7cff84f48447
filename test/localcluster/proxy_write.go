package localcluster

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Write is a write to pods on its way to the API server.
type Write struct {
	// N numbers the writes in the order of their arrival, starting from 1.
	N int
	// Method is PATCH, PUT, POST or DELETE.
	Method string
	// Namespace, Pod and Subresource come from the path. Pod is empty if a pod is created or
	// many pods are deleted. Subresource is usually empty.
	Namespace, Pod, Subresource string
	// Body is the body of the request.
	Body []byte
}

// podWrite returns the write of a request, and reports whether the request writes to pods.
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

// readBody returns the body of a request. The body can be read from the request again.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return body, nil
}
