package state

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseNodes(t *testing.T) {
	for _, test := range []struct {
		name string
		list string
		want []Node
		err  string
	}{
		{name: "no list means no nodes", list: ""},
		{name: "blanks mean no nodes", list: "  "},
		{name: "nodes of a type are numbered from zero, in the order given", list: "n4=2,c3=1", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0}, {Name: "n4-1", Type: "n4", Index: 1}, {Name: "c3-0", Type: "c3", Index: 2},
		}},
		{name: "blanks around entries do not count", list: "n4=1, c3=1", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0}, {Name: "c3-0", Type: "c3", Index: 1},
		}},
		{name: "the empty type makes nodes without a type", list: "=1,n4=1", want: []Node{
			{Name: "node-0", Index: 0}, {Name: "n4-0", Type: "n4", Index: 1},
		}},
		{name: "a count is needed", list: "n4", err: "not TYPE=COUNT"},
		{name: "a count is a number", list: "n4=many", err: "not a count"},
		{name: "a count is at least one", list: "n4=0", err: "not a count"},
		{name: "a type comes once", list: "n4=1,n4=2", err: "listed twice"},
		{name: "names of typed and untyped nodes must differ", list: "=1,node=1", err: "listed twice"},
		{name: "a type is a label value", list: "a b=1", err: "type"},
		{name: "a type begins a node's name", list: "N4=1", err: "cannot begin a node's name"},
		{name: "the number of nodes is bounded", list: "n4=5000", err: "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseNodes(test.list)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

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
		{"kubernetes.io/hostname", "the kubelet's own"},
		{"kubernetes.io/os", "the kubelet's own"},
		{"kubernetes.io/arch", "the kubelet's own"},
		{"beta.kubernetes.io/os", "the kubelet's own"},
		{"beta.kubernetes.io/arch", "the kubelet's own"},
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
