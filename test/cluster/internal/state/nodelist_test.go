package state

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
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
		{name: "options apply to the nodes of one entry", list: "n4=1:cpu-manager=static,c3=1", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0, CPUManager: "static"}, {Name: "c3-0", Type: "c3", Index: 1},
		}},
		{name: "an entry may have several options", list: "=1:kubelet=1.33.13:cpu-manager=static", want: []Node{
			{Name: "node-0", Index: 0, CPUManager: "static", KubeletVersion: "1.33.13"},
		}},
		{name: "a type with other options continues the numbering", list: "n4=2,c3=1,n4=1:kubelet=1.34.4", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0}, {Name: "n4-1", Type: "n4", Index: 1},
			{Name: "c3-0", Type: "c3", Index: 2}, {Name: "n4-2", Type: "n4", Index: 3, KubeletVersion: "1.34.4"},
		}},
		{name: "nodes of a type may have different speeds", list: "n4=1:speed=1.25,n4=1", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0, Speed: 1.25}, {Name: "n4-1", Type: "n4", Index: 1},
		}},
		{name: "nodes may be tainted", list: "n4=1:taint=example.com/new", want: []Node{{Name: "n4-0", Type: "n4", Index: 0, Taint: "example.com/new"}}},
		{name: "a taint has a key", list: "n4=1:taint=", err: `"" is not the key of a taint`},
		{name: "a speed is a number", list: "n4=1:speed=NaN", err: `"NaN" is not a speed from 0.01 to 100`},
		{name: "a speed is positive", list: "n4=1:speed=0", err: `"0" is not a speed from 0.01 to 100`},
		{name: "a version may be a vendor's", list: "n4=1:kubelet=v1.33.5-gke.1162000", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0, KubeletVersion: "1.33.5-gke.1162000"},
		}},
		{name: "a kubelet may be as new as the API server", list: "n4=1:kubelet=1.36.3", want: []Node{
			{Name: "n4-0", Type: "n4", Index: 0, KubeletVersion: "1.36.3"},
		}},
		{name: "a kubelet is not newer than the API server", list: "n4=1:kubelet=1.36.4", err: "newer than the API server, 1.36.3"},
		{name: "a kubelet is not much older than the API server", list: "n4=1:kubelet=1.32.9", err: "more than 3 minor versions older"},
		{name: "a version has three numbers", list: "n4=1:kubelet=1.33", err: `"1.33" is not a version such as`},
		{name: "a version is required", list: "n4=1:kubelet", err: "not a version such as"},
		{name: "the only CPU manager option is static", list: "n4=1:cpu-manager=none", err: `"cpu-manager=none" is none of`},
		{name: "an unknown option is an error", list: "n4=1:fast", err: `"fast" is none of cpu-manager=static, kubelet=VERSION, speed=FACTOR and taint=KEY`},
		{name: "an empty option is an error", list: "n4=1:", err: `"" is none of`},
		{name: "a count comes before options", list: "n4=cpu-manager=static", err: "not a count"},
		{name: "a count is required", list: "n4", err: "not TYPE=COUNT"},
		{name: "a count is a number", list: "n4=many", err: "not a count"},
		{name: "a count is at least one", list: "n4=0", err: "not a count"},
		{name: "a type is listed again only with other options", list: "n4=1,n4=2", err: "listed twice"},
		{name: "spellings of one version are the same option", list: "n4=1:kubelet=1.33.13,n4=1:kubelet=v1.33.13", err: "listed twice"},
		{name: "names of typed and untyped nodes differ", list: "=1,node=1", err: "listed twice"},
		{name: "a type is a label value", list: "a b=1", err: "type"},
		{name: "a type begins a node's name", list: "N4=1", err: "cannot begin a node's name"},
		{name: "the number of nodes is bounded", list: "n4=5000", err: "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseNodes(test.list, version.MustParseSemantic("1.36.3"))
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
