package state

import (
	"strings"
	"testing"
)

func TestPodIPsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, index := range []int{0, 1, 255, 256, maxNodes - 1} {
		for pod := range 254 {
			ip := Node{Index: index}.PodIP(pod)
			if seen[ip] {
				t.Fatalf("node %d gives pod %d the address %s a second time", index, pod, ip)
			}
			seen[ip] = true
		}
	}
}

func TestCheckNodeLabel(t *testing.T) {
	for _, test := range []struct{ key, problem string }{
		{"cloud.google.com/machine-family", ""},
		{"type", ""},
		{"notkubernetes.io/type", ""},
		{"node.kubernetes.io/instance-type", ""},
		{"node.kubernetes.io/anything", ""},
		{"example.kubelet.kubernetes.io/type", ""},
		{"topology.kubernetes.io/zone", ""},
		{"not a key", "alphanumeric"},
		{"", "name part"},
		{"kubernetes.io/hostname", "the kubelet sets this label"},
		{"kubernetes.io/os", "the kubelet sets this label"},
		{"kubernetes.io/arch", "the kubelet sets this label"},
		{"beta.kubernetes.io/os", "the kubelet sets this label"},
		{"beta.kubernetes.io/arch", "the kubelet sets this label"},
		{"kubernetes.io/type", "may not set"},
		{"node-restriction.kubernetes.io/type", "may not set"},
		{"node-role.kubernetes.io/worker", "may not set"},
		{"k8s.io/type", "may not set"},
		{"example.k8s.io/type", "may not set"},
	} {
		err := CheckNodeLabel(test.key)
		if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
			t.Errorf("%q: got %v, want %q", test.key, err, test.problem)
		}
	}
}
