package usage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	remarkAll  = "3 of 11 containers are unknown: their authors requested cpu 2500m and memory 10Gi, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why\n"
	remarkCart = "2 of 2 containers are unknown: their authors requested cpu 2 and memory 2Gi, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why\n"

	remarkOfOwner = "the pods of replicaset/cart count for statefulset/cart; the sums are over these pods only\n"
)

func webWorkload() *workloadresizerv1.Workload {
	return &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
}

func TestUsage(t *testing.T) {
	of := func(namespace, page string) proto.Message {
		return &workloadresizerv1.ListRecommendationsRequest{Namespace: namespace, PageToken: page}
	}
	for _, tc := range []struct {
		golden, stderr string
		args           []string
		asked          proto.Message
	}{
		{"usage.table", "", nil, of("default", "")},
		{"usage-all.table", remarkAll, []string{"-A", "-n", "shop"}, of("", "2")},
		{"usage-all.color", remarkAll, []string{"-A", "--color", "always"}, of("", "2")},
		{"usage-all.wide", remarkAll, []string{"-A", "-o", "wide"}, of("", "2")},
		{"usage-all.json", "", []string{"-A", "-o", "json"}, of("", "2")},
		{"usage-all.yaml", "", []string{"-A", "-o", "yaml"}, of("", "2")},
		{"usage-all.name", "", []string{"-A", "-o", "name"}, of("", "2")},
		{"usage-all.name", "", []string{"-A", "-o", "name", "--by", "container"}, of("", "2")},
		{"usage-all.jsonpath", "", []string{"-A", "-o", "jsonpath={.total.saved.cpu} {.workloads[*].workload.name} {.recommendations[?(@.sums.pods>2)].container} {.namespaces[1].unknownContainers}"}, of("", "2")},
		{"usage-all.go-template", "", []string{"-A", "-o", "go-template={{range .namespaces}}{{.namespace}} {{.saved.memory}}\n{{end}}{{.currency}}"}, of("", "2")},
		{"usage-all.columns", "", []string{"-A", "-o", "custom-columns=NAME:.workload.name,SAVED:.saved.cpu,COST:.savedCost"}, of("", "2")},
		{"usage-all-containers.columns", "", []string{"-A", "--by", "container", "--no-headers", "-o", "custom-columns=NAME:.container,SAVED:.saved.cpu,RULE:.rule"}, of("", "2")},
		{"usage-namespaces.table", remarkAll, []string{"-A", "--by", "namespace"}, of("", "2")},
		{"usage-namespaces.wide", remarkAll, []string{"-A", "--by", "namespace", "-o", "wide"}, of("", "2")},
		{"usage-namespaces.name", "", []string{"-A", "--by", "namespace", "-o", "name"}, of("", "2")},
		{"usage-workloads.wide", remarkAll, []string{"-A", "--by", "workload", "-o", "wide", "--no-headers"}, of("", "2")},
		{"usage-containers.table", "", []string{"--by", "container", "-l", "app=web"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "default", LabelSelector: "app=web"}},
		{"usage-sorted.table", remarkAll, []string{"-A", "--sort-by", ".saved.cpu"}, of("", "2")},
		{"usage.table", "", []string{"deploy/web"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "default", Workload: webWorkload()}},
		{"usage.table", "", []string{"deployment", "web"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "default", Workload: webWorkload()}},
		{"usage.table", "", []string{"default/deployment/web"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "default", Workload: webWorkload()}},
		{"usage.table", "", []string{"web"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "default", Workload: webWorkload()}},
		{"usage-cart.table", remarkCart, []string{"shop/cart"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "cart"}}},
		{"usage-cart.table", remarkOfOwner + remarkCart, []string{"rs/cart", "-n", "shop"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "cart"}}},
		{"usage-cart.json", "", []string{"shop/cart", "-o", "json"}, &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "cart"}}},
	} {
		t.Run(strings.Join(append([]string{"usage"}, tc.args...), " "), func(t *testing.T) {
			server := collected().server()
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "--server", server.Serve(t)}, tc.args...)...)
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

func TestNoUsage(t *testing.T) {
	none, used := cmdtest.Answering().Serve(t), collected().serve(t)
	twice := collected()
	other := proto.CloneOf(twice.recommendations[0])
	other.Workload.Kind = "StatefulSet"
	twice.recommendations = append(twice.recommendations, other)
	double := twice.serve(t)
	for _, tc := range []struct {
		name, server, stdout, stderr string
		args                         []string
		code                         int
	}{
		{"an empty namespace", none, "", "no workloads found that have pods in namespace default\n", nil, command.ExitOK},
		{"an empty cluster", none, "", "no workloads found that have pods\n", []string{"-A"}, command.ExitOK},
		{"no such labels", none, "", "no workloads found that have pods with labels app=web in namespace shop\n", []string{"-n", "shop", "-l", "app=web"}, command.ExitOK},
		{"a document", none, "{\n  \"recommendations\": [],\n  \"workloads\": [],\n  \"namespaces\": [],\n  \"total\": {\n    \"containers\": 0,\n    \"unknownContainers\": 0,\n" +
			"    \"authored\": {\n      \"cpu\": \"0\",\n      \"memory\": \"0\"\n    },\n    \"requested\": {\n      \"cpu\": \"0\",\n      \"memory\": \"0\"\n    }\n  },\n  \"currency\": \"\"\n}\n",
			"no workloads found that have pods in namespace default\n", []string{"-o", "json"}, command.ExitOK},
		{"a workload without pods", used, "", "error: no running pods found of deployment/gone in namespace shop: " +
			"\"resizectl usage explain deployment/gone -n shop\" shows what was measured before\n", []string{"deploy/gone", "-n", "shop"}, command.ExitError},
		{"a workload that the server does not know", used, "", "error: the usage of workload shop/Deployment/never is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for; " +
			"\"resizectl usage\" lists the workloads that have pods, and \"resizectl usage sources\" shows whether usage is collected\n", []string{"deploy/never", "-n", "shop"}, command.ExitError},
		{"a name that no workload has", used, "", "error: no workload with running pods in namespace shop has the name \"web-1\": name its type, too, if it has none now, such as cronjob/web-1, or the workload of a pod; " +
			"\"resizectl usage -n shop\" lists workloads\n", []string{"web-1", "-n", "shop"}, command.ExitError},
		{"a pod", used, "", "error: pod/web is a pod: name its workload as TYPE/NAME, such as deployment/web; see \"resizectl usage --help\"\n", []string{"pod/web", "-n", "shop"}, command.ExitError},
		{"a pod, in two words", used, "", "error: po web is a pod: name its workload as TYPE/NAME, such as deployment/web; see \"resizectl usage --help\"\n", []string{"po", "web", "-n", "shop"}, command.ExitError},
		{"a pod in a namespace", used, "", "error: shop/pod/web is a pod: name its workload as TYPE/NAME, such as deployment/web; see \"resizectl usage --help\"\n", []string{"shop/pod/web"}, command.ExitError},
		{"a name that two workloads have", double, "", "error: several workloads in namespace default have the name \"web\": name one of deployment/web, statefulset/web\n", []string{"web"}, command.ExitError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "--server", tc.server}, tc.args...)...)
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func TestUsageRules(t *testing.T) {
	t.Run("rejects what cannot be combined", rejectsWhatCannotBeCombined)
	t.Run("fails if a sum is not a quantity", failsIfASumIsNotAQuantity)
	t.Run("has no columns of costs without prices", hasNoColumnsOfCostsWithoutPrices)
	t.Run("names workloads of which something is withheld from usage", namesWorkloadsOfWhichSomethingIsWithheld)
	t.Run("completes workloads and commands", completesWorkloadsAndCommands)
	t.Run("rejects fields that no sum has", rejectsFieldsThatNoSumHas)
	t.Run("names the namespace of a sum over one", namesTheNamespaceOfASumOverOne)
}

func rejectsFieldsThatNoSumHas(t *testing.T) {
	address := collected().serve(t)
	for _, command := range [][]string{{"usage"}, {"usage", "savings"}} {
		code, stdout, stderr := program.Shell(t.Context(), append(command, "-A", "--sort-by", ".x", "--server", address)...)
		if code == 0 || stdout != "" || !strings.Contains(stderr, "sort by .x: no object has this field") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", command, code, stdout, stderr)
		}
	}
}

func namesTheNamespaceOfASumOverOne(t *testing.T) {
	_, stdout, stderr := program.Shell(t.Context(), "usage", "--by", "namespace", "--server", collected().serve(t))
	if header, row, _ := strings.Cut(stdout, "\n"); !strings.HasPrefix(header, "NAMESPACE ") || !strings.HasPrefix(row, "default ") {
		t.Errorf("stdout\n%s\nstderr %q", stdout, stderr)
	}
}

func rejectsWhatCannotBeCombined(t *testing.T) {
	address := cmdtest.Nobody(t)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"a workload is in one namespace: name it with --namespace instead of --all-namespaces", []string{"deploy/web", "-A"}},
		{"--selector is empty; omit it for all pods", []string{"-l", ""}},
		{"--sort-by cannot be combined with --watch: changes arrive in their own order", []string{"-w", "--sort-by", ".saved.cpu"}},
		{"--selector cannot be combined with --watch: name a workload or a namespace", []string{"-w", "-l", "app=web"}},
		{"--by namespace cannot be combined with --watch, which prints containers as they change", []string{"-w", "--by", "namespace"}},
		{"unknown command \"explian\": did you mean explain? Name a workload as TYPE/NAME, such as deployment/explian", []string{"explian", "deploy/web"}},
		{"the namespace is empty; use --all-namespaces for every namespace", []string{"-n", ""}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "--server", address}, tc.args...)...)
		if want := "error: " + tc.want + "; see \"resizectl usage --help\"\n"; code != command.ExitError || stdout != "" || stderr != want {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.args, code, stdout, stderr, want)
		}
	}
}

func failsIfASumIsNotAQuantity(t *testing.T) {
	used := collected()
	used.recommendations[0].Sums.Used.Memory = "plenty"
	code, stdout, stderr := program.Shell(t.Context(), "usage", "--server", used.serve(t))
	if want := "error: read the sums of container app of deployment/web in namespace default: used: memory: the server's amount \"plenty\" is not a quantity\n"; code != command.ExitError || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func hasNoColumnsOfCostsWithoutPrices(t *testing.T) {
	used := collected()
	used.currency = ""
	for _, r := range used.recommendations {
		r.Sums.AuthoredCost, r.Sums.RecommendedCost = nil, nil
	}
	_, stdout, _ := program.Shell(t.Context(), "usage", "--server", used.serve(t))
	cmdtest.Golden(t, "usage-free.table", stdout)
}

func namesWorkloadsOfWhichSomethingIsWithheld(t *testing.T) {
	remark := func(names string) string {
		return "a HorizontalPodAutoscaler compares requests of " + names + " with usage, so usage does not size them, and no savings count; \"resizectl usage explain WORKLOAD\" shows which\n"
	}
	used := collected()
	list := func(args ...string) string {
		_, _, stderr := program.Shell(t.Context(), append([]string{"usage", "--server", used.serve(t)}, args...)...)
		return stderr
	}
	used.recommendations[0].CpuWithheldMessage, used.recommendations[1].MemoryWithheldMessage = "scaled", "scaled"
	if got, want := list("-A"), remark("default/deployment/web")+remarkAll; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := list("-A", "-o", "json"); got != "" {
		t.Errorf("%q in a document", got)
	}
	used.recommendations = nil
	for i := range 7 {
		used.recommendations = append(used.recommendations, &workloadresizerv1.Recommendation{
			Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: fmt.Sprint("w", i)}, CpuWithheldMessage: "scaled", Sums: &workloadresizerv1.UsageSums{},
		})
	}
	if got, want := list("-n", "shop"), remark("shop/deployment/w0, shop/deployment/w1, shop/deployment/w2, shop/deployment/w3, shop/deployment/w4 and 2 more"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func completesWorkloadsAndCommands(t *testing.T) {
	address := collected().serve(t)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"explain\tExplain step by step what a workload needs\nhistory\tShow what a container used, as a histogram per node type\nsavings\tShow what resizes save now, and what they cost\nsources\tShow where usage comes from, how recent it is, and where history is stored\ndeployment/web\n:4\n", []string{"usage", ""}},
		{"statefulset/cart\nstatefulset/db\n:4\n", []string{"usage", "-n", "shop", ""}},
		{"statefulset/cart\nstatefulset/db\n:4\n", []string{"usage", "explain", "-n", "shop", ""}},
		{"statefulset/cart\nstatefulset/db\n:4\n", []string{"usage", "history", "-n", "shop", "statefulset/"}},
		{":4\n", []string{"usage", "explain", "deployment/web", ""}},
		{"namespace\nworkload\ncontainer\n:4\n", []string{"usage", "--by", ""}},
	} {
		_, stdout, _ := program.Shell(t.Context(), append([]string{"__complete", "--server", address}, tc.args...)...)
		if stdout != tc.want {
			t.Errorf("%q: got %q, want %q", tc.args, stdout, tc.want)
		}
	}
}

func TestWatchUsage(t *testing.T) {
	inDefault := &workloadresizerv1.WatchRecommendationsRequest{Namespace: "default"}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.WatchRecommendationsRequest
	}{
		{"usage-watch.table", nil, inDefault},
		{"usage-watch.wide", []string{"-o", "wide"}, inDefault},
		{"usage-watch.color", []string{"--color", "always"}, inDefault},
		{"usage-watch.json", []string{"-o", "json"}, inDefault},
		{"usage-watch.yaml", []string{"-o", "yaml"}, inDefault},
		{"usage-watch.name", []string{"-o", "name"}, inDefault},
		{"usage-watch-all.table", []string{"-A", "--by", "container"}, &workloadresizerv1.WatchRecommendationsRequest{}},
		{"usage-watch.table", []string{"web"}, &workloadresizerv1.WatchRecommendationsRequest{Namespace: "default", Workload: webWorkload()}},
	} {
		t.Run(strings.Join(append(tc.args, tc.golden), " "), func(t *testing.T) {
			server := collected().server()
			server.Follow(cmdtest.Watches(cmdtest.Stream[*workloadresizerv1.WatchRecommendationsResponse]{Events: recommendationEvents(), Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "no more")}))
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "-w", "--server", server.Serve(t)}, tc.args...)...)
			if code != command.ExitError || !strings.HasSuffix(stderr, " no more\n") {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}
