package admission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Without an authority, the API server never asks: a server with certificates of another issuer must say what is missing.
func TestUnknownAuthority(t *testing.T) {
	a := NewAuthority(nil, "system", "workload-resizer-ca", "workload-resizer-size-at-creation", func() string { return "" })
	read := func(data map[string]string) { a.take(func() { a.seenBundle = &corev1.ConfigMap{Data: data} }) }
	if err := a.Problem(); err != nil {
		t.Errorf("before it was read: %v", err)
	}
	read(nil)
	if err := a.Problem(); err == nil || !strings.Contains(err.Error(), "ConfigMap system/workload-resizer-ca has no ca.crt: store the authority") {
		t.Errorf("of an empty ConfigMap: %v", err)
	}
	read(map[string]string{"ca.crt": "PEM"})
	if err := a.Problem(); err != nil {
		t.Errorf("of an authority: %v", err)
	}
}
