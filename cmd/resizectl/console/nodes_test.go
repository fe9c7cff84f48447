package console

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestManyNodes checks that a page shows a part of many nodes, and leads to the others.
func TestManyNodes(t *testing.T) {
	list := &workloadresizerv1.ListNodesResponse{}
	for i := range 250 {
		list.Nodes = append(list.Nodes, &workloadresizerv1.NodeSummary{Name: fmt.Sprintf("node-%03d", i), NodeType: []string{"n4", "c3"}[i%2]})
	}
	r := start(t, cmdtest.Answering(scripted(), cmdtest.Returns(list)).Serve(t))
	for _, tc := range []struct {
		path       string
		has, lacks []string
	}{
		{"/nodes", []string{"1 to 100 of 250 nodes.", ">node-000<", ">node-099<", `href="/nodes?from=100" rel="next"`}, []string{">node-100<", `rel="prev"`}},
		{"/nodes?from=200", []string{"201 to 250 of 250 nodes.", ">node-249<", `href="/nodes?from=100" rel="prev"`}, []string{">node-199<", `rel="next"`}},
		{"/nodes?from=900", []string{"201 to 250 of 250 nodes."}, nil},
		{"/nodes?type=c3", []string{"1 to 100 of 125 (this type; 250 nodes in all).", ">node-199<", `href="/nodes?from=100&type=c3" rel="next"`}, []string{">node-000<"}},
		{"/nodes?type=c3&from=100", []string{"101 to 125 of 125 (this type; 250 nodes in all).", `href="/nodes?type=c3" rel="prev"`}, nil},
	} {
		_, body := r.get(tc.path)
		body = html.UnescapeString(body)
		for _, want := range tc.has {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %q", tc.path, want)
			}
		}
		for _, no := range tc.lacks {
			if strings.Contains(body, no) {
				t.Errorf("%s has %q", tc.path, no)
			}
		}
	}
}

// TestOneNode checks that the page of a node asks for that node only, and finds it among those of a server that ignores which.
func TestOneNode(t *testing.T) {
	list := &workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{{Name: "node-1", NodeType: "c3"}, {Name: "node-2", NodeType: "n4"}}}
	asked := make(chan string, 10)
	r := start(t, cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.ListNodesRequest) (*workloadresizerv1.ListNodesResponse, error) {
		asked <- req.GetName()
		return list, nil
	})).Serve(t))
	_, body := r.get("/nodes/node-2")
	if got := <-asked; got != "node-2" || !strings.Contains(body, "n4") || strings.Contains(body, "c3") {
		t.Errorf("it asks for %q, and shows\n%s", got, body)
	}
	if _, body := r.get("/nodes/node-3"); !strings.Contains(body, "This node does not exist now.") {
		t.Errorf("a node that does not exist is shown as\n%s", body)
	}
}
