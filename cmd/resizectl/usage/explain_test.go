package usage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestExplain(t *testing.T) {
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.GetRecommendationRequest
	}{
		{"explain.table", []string{"deploy/web"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain.table", []string{"web", "-o", "wide"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-owner.table", []string{"rs/web"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web"}}},
		{"explain.color", []string{"deploy/web", "--color", "always"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-proxy.table", []string{"deploy/web", "-c", "proxy"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-proxy.json", []string{"deploy/web", "-c", "proxy", "-o", "json"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-proxy.yaml", []string{"deploy/web", "-c", "proxy", "-o", "yaml"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-proxy.jsonpath", []string{"deploy/web", "-c", "proxy", "-o", "jsonpath={.containers[0].recommendation.baseline.target}"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "default", Workload: webWorkload()}},
		{"explain-cart.table", []string{"shop/statefulset/cart"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "cart"}}},
		{"explain-db.table", []string{"sts/db", "-n", "shop"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "db"}}},
		{"explain-gone.table", []string{"sts/gone", "-n", "shop"}, &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "gone"}}},
	} {
		t.Run(strings.Join(append([]string{"usage explain"}, tc.args...), " "), func(t *testing.T) {
			server := collected().server()
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "explain", "--server", server.Serve(t)}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestExplainRules(t *testing.T) {
	t.Run("rejects anything but one workload and its containers", rejectsAnythingButOneWorkload)
	t.Run("says what is withheld from usage", saysWhatIsWithheldFromUsage)
	t.Run("says what pods share", saysWhatPodsShare)
}

func saysWhatPodsShare(t *testing.T) {
	used := collected()
	web := used.explained["web"][1].Recommendation
	web.Baseline.Shared = map[string]*workloadresizerv1.SharedDemand{
		"cpu": {Steady: "300m", Peak: "900m", Share: 0.354, Unshared: "800m"}, "memory": {Steady: "1Gi", Peak: "2Gi", Share: 1, Unshared: "1536Mi"},
	}
	const told = "cpu 300m most of the time, and 35% of what is missing to the peak of 900m; without sharing, which its limit follows, it would be 800m; " +
		"memory 1Gi most of the time, and 100% of what is missing to the peak of 2Gi; without sharing, which its limit follows, it would be 1536Mi.\n"
	const observed, applied = "Shared if demand.mode were apply for all pods: on average over these, " + told, "Shared: on average over its pods, " + told
	for _, tc := range []struct {
		from string
		mode workloadresizerv1.DemandMode
		want string
	}{
		{"author", workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR, observed},
		{"usage", workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE, observed},
		{"usage", workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL, applied},
		{"usage", workloadresizerv1.DemandMode_DEMAND_MODE_APPLY, applied},
	} {
		web.DemandFrom, web.DemandMode = tc.from, tc.mode
		if _, stdout, _ := program.Shell(t.Context(), "usage", "explain", "deploy/web", "-c", "proxy", "--server", used.serve(t)); !strings.Contains(stdout, tc.want) {
			t.Errorf("%s, %s: %s, want %q", tc.from, tc.mode, stdout, tc.want)
		}
	}
}

func saysWhatIsWithheldFromUsage(t *testing.T) {
	used := collected()
	web := used.explained["web"][1].Recommendation
	explained := func() string {
		_, stdout, _ := program.Shell(t.Context(), "usage", "explain", "deploy/web", "-c", "proxy", "--server", used.serve(t))
		return stdout
	}
	for _, tc := range []struct{ cpu, memory, want string }{
		{"", "", ""},
		{"HorizontalPodAutoscaler web\x1b targets 80% of cpu requests", "", "Withheld: cpu is not sized by usage: HorizontalPodAutoscaler web  targets 80% of cpu requests. A withheld resource needs what its author wrote, and savings do not count its target."},
		{"one", "two", "Withheld: cpu is not sized by usage: one; memory is not sized by usage: two. A withheld"},
	} {
		web.CpuWithheldMessage, web.MemoryWithheldMessage = tc.cpu, tc.memory
		got := explained()
		if _, step, found := strings.Cut(got, "Withheld: "); found != (tc.want != "") || !strings.HasPrefix("Withheld: "+step, tc.want) && found {
			t.Errorf("%s, want %q", got, tc.want)
		}
	}
}

func rejectsAnythingButOneWorkload(t *testing.T) {
	address := collected().serve(t)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"name the workload: resizectl usage explain TYPE/NAME; see \"resizectl usage explain --help\"", nil},
		{"the namespace is empty; omit --namespace for the default one; see \"resizectl usage explain --help\"", []string{"deploy/web", "-n", ""}},
		{"deployment/web in namespace default has no container \"side\": set --container to one of app, proxy", []string{"deploy/web", "-c", "side"}},
		{"deployment/web in namespace default has no container \"side\": set --container to one of app, proxy", []string{"deploy/web", "-c", "side", "-o", "json"}},
		{"nothing is known of a container of deployment/empty in namespace default: \"resizectl usage sources\" shows what is collected", []string{"deploy/empty"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "explain", "--server", address}, tc.args...)...)
		if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want+"\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.args, code, stdout, stderr, tc.want)
		}
	}
	code, _, stderr := program.Shell(t.Context(), "usage", "explain", "deploy/never", "--server", address)
	if code != command.ExitError || !strings.HasPrefix(stderr, "error: the usage of workload default/Deployment/never is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for; \"resizectl usage\" lists ") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}
