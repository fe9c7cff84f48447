package usage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	remarkSavings = "the usage of 4 of 9 pods is unknown; \"resizectl usage explain WORKLOAD\" shows why; none is collected of 1 pod without a workload (-)\n"
	remarkOfShop  = "the usage of 4 of 6 pods is unknown; \"resizectl usage explain WORKLOAD\" shows why; none is collected of 1 pod without a workload (-)\n"
	remarkOfCart  = "the usage of 2 of 2 pods is unknown; \"resizectl usage explain WORKLOAD\" shows why\n"
)

func TestSavings(t *testing.T) {
	of := func(namespace, page string) proto.Message {
		return &workloadresizerv1.ListSavingsRequest{Namespace: namespace, PageToken: page}
	}
	cart := func(kind string) proto.Message {
		return &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: kind, Name: "cart"}}
	}
	for _, tc := range []struct {
		golden, stderr string
		args           []string
		asked          proto.Message
	}{
		{"savings.table", "", nil, of("default", "")},
		{"savings-shop.table", remarkOfShop, []string{"-n", "shop"}, of("shop", "2")},
		{"savings-all.table", remarkSavings, []string{"-A"}, of("", "2")},
		{"savings-all.wide", remarkSavings, []string{"-A", "-o", "wide"}, of("", "2")},
		{"savings-all.color", remarkSavings, []string{"-A", "--color", "always"}, of("", "2")},
		{"savings-all.json", "", []string{"-A", "-o", "json"}, of("", "2")},
		{"savings-all.yaml", "", []string{"-A", "-o", "yaml"}, of("", "2")},
		{"savings-all.jsonpath", "", []string{"-A", "-o", "jsonpath={.total.saved.cpu} {.savings[*].workload.name} {.namespaces[1].oomKills}"}, of("", "2")},
		{"savings-all.columns", "", []string{"-A", "--by", "namespace", "-o", "custom-columns=NAME:.namespace,SAVED:.saved.memory"}, of("", "2")},
		{"savings-namespaces.table", remarkSavings, []string{"-A", "--by", "namespace"}, of("", "2")},
		{"savings-namespaces.name", "", []string{"-A", "--by", "namespace", "-o", "name"}, of("", "2")},
		{"savings-sorted.table", remarkSavings, []string{"-A", "--sort-by", ".saved.memory"}, of("", "2")},
		{"savings.table", "", []string{"web"}, &workloadresizerv1.ListSavingsRequest{Namespace: "default", Workload: webWorkload()}},
		{"savings.table", "", []string{"-l", "app=web"}, &workloadresizerv1.ListSavingsRequest{Namespace: "default", LabelSelector: "app=web"}},
		{"savings-cart.table", remarkOfCart, []string{"shop/cart"}, cart("StatefulSet")},
		{"savings-cart.table", remarkOfOwner + remarkOfCart, []string{"rs/cart", "-n", "shop"}, cart("ReplicaSet")},
	} {
		t.Run(strings.Join(append([]string{"savings"}, tc.args...), " "), func(t *testing.T) {
			server := collected().server()
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "savings", "--server", server.Serve(t)}, tc.args...)...)
			if code != command.ExitOK || stderr != tc.stderr {
				t.Errorf("exit %d, stderr %q, want %q", code, stderr, tc.stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestSavingsRules(t *testing.T) {
	t.Run("have no columns of costs without prices", func(t *testing.T) {
		used := collected()
		used.currency = ""
		for _, of := range used.savings {
			of.AuthoredCost, of.RequestedCost, of.UsedCost = nil, nil, nil
		}
		_, stdout, _ := program.Shell(t.Context(), "usage", "savings", "-A", "-o", "wide", "--server", used.serve(t))
		cmdtest.Golden(t, "savings-free.wide", stdout)
	})
	t.Run("explain nothing about pods without a workload", func(t *testing.T) {
		used := collected()
		used.savings = used.savings[3:]
		_, _, stderr := program.Shell(t.Context(), "usage", "savings", "-A", "--server", used.serve(t))
		if stderr != "the usage of 1 of 1 pod is unknown; none is collected of 1 pod without a workload (-)\n" {
			t.Errorf("stderr %q", stderr)
		}
	})
	t.Run("say that nothing is found", func(t *testing.T) {
		address := cmdtest.Answering().Serve(t)
		code, stdout, stderr := program.Shell(t.Context(), "usage", "savings", "-n", "shop", "--server", address)
		if code != command.ExitOK || stdout != "" || stderr != "no workloads found that have pods in namespace shop\n" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
		_, stdout, _ = program.Shell(t.Context(), "usage", "savings", "-A", "-o", "json", "--server", address)
		cmdtest.Golden(t, "savings-none.json", stdout)
	})
	t.Run("fail for a workload without pods", func(t *testing.T) {
		code, _, stderr := program.Shell(t.Context(), "usage", "savings", "deploy/gone", "-n", "shop", "--server", collected().serve(t))
		if code != command.ExitError || !strings.HasPrefix(stderr, "error: no running pods found of deployment/gone in namespace shop") {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
	})
	t.Run("fail if an amount is not a quantity", func(t *testing.T) {
		used := collected()
		used.savings[0].Saved.Memory = "plenty"
		code, _, stderr := program.Shell(t.Context(), "usage", "savings", "--server", used.serve(t))
		if want := "error: read the savings of deployment/web in namespace default: saved: memory: the server's amount \"plenty\" is not a quantity\n"; code != command.ExitError || stderr != want {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
	})
	t.Run("have the cost of a sum only if that of all parts is known", func(t *testing.T) {
		resp := &workloadresizerv1.ListSavingsResponse{Savings: savingsOfAll(), Currency: "USD"}
		resp.Savings[2].RequestedCost = nil
		all, err := savingsOf(resp)
		if err != nil || all.total.sums.cost.saved() != nil || all.rows[byNamespace][1].sums.cost.saved() != nil || all.rows[byNamespace][0].sums.cost.saved() == nil || *all.total.sums.cost.authored != 0.5453125 {
			t.Errorf("%v, %v", all.total, err)
		}
	})
}
