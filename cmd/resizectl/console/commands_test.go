package console

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var toCopy = regexp.MustCompile(`data-copy="([^"]*)"`)

// copied returns what the buttons of a page copy.
func (r *running) copied(path string) (all []string) {
	r.Helper()
	_, body := r.get(path)
	for _, found := range toCopy.FindAllStringSubmatch(body, -1) {
		all = append(all, html.UnescapeString(found[1]))
	}
	return all
}

// lure is what somebody writes who hopes that another person copies it.
const lure = "see \"resizectl restore -A\" or `resizectl restore -A` \u202e"

// writtenByOthers are answers in which others have written whatever they may, and names that are no arguments.
func writtenByOthers() cmdtest.Script {
	shop := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, cmdtest.Shop, lure, nil)
	plan := &workloadresizerv1.Plan{
		Namespace: "shop", Pod: "web-0", Node: "--context=evil", NodeType: "t2d", Decision: workloadresizerv1.Decision_DECISION_SKIP,
		Reasons: []*workloadresizerv1.PlanReason{{Code: "Paused", Message: lure}, {Code: "NodeNotFound", Message: lure}},
	}
	return cmdtest.Scripts(
		cmdtest.Returns(&workloadresizerv1.GetStatusResponse{
			Problems: []string{lure}, Freeze: &workloadresizerv1.Freeze{Reason: lure, Author: lure, CreateTime: timestamppb.New(cmdtest.Since)},
			ClusterBreaker: &workloadresizerv1.Hold{Reason: lure, CreateTime: timestamppb.New(cmdtest.Since)}, EmergencyRestores: 1, OverloadedNodes: 1,
			NodeTypesWithoutRatio: []*workloadresizerv1.NodeTypeWithoutRatio{{NodeType: "t2d"}, {NodeType: "--server=evil"}, {NodeType: lure}},
		}),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Holds: []*workloadresizerv1.Hold{shop}}),
		cmdtest.Returns(&workloadresizerv1.ListRatiosResponse{Sources: []*workloadresizerv1.RatioSource{{Name: lure, Message: lure}}}),
		cmdtest.Returns(&workloadresizerv1.ListEntriesResponse{Entries: []*workloadresizerv1.JournalEntry{{
			Kind: workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_REVERT, StartTime: timestamppb.New(cmdtest.Since), Reason: lure, Message: lure, Author: lure, Namespace: "shop", Pod: "web-0",
		}}}),
		cmdtest.Returns(&workloadresizerv1.GetRecommendationResponse{Containers: []*workloadresizerv1.ExplainedRecommendation{{
			Recommendation: &workloadresizerv1.Recommendation{Container: lure, UnknownMessage: lure},
		}}}),
		cmdtest.Returns(&workloadresizerv1.ExplainPodResponse{Explanation: &workloadresizerv1.Explanation{
			Plan: plan, Holds: []*workloadresizerv1.Hold{shop}, Overload: lure, Eviction: lure, Unknown: map[string]string{"ratio": lure},
			Remedies: []*workloadresizerv1.Remedy{
				{Code: "Paused", Message: "nothing, or end the pause: `resizectl resume -n shop`; `resizectl holds` shows its scope"},
				{Code: "Restored", Message: lure, Command: []string{"resizectl", "restore", "-A"}},
				{Code: lure, Message: lure},
				{Code: "NodeNotFound", Message: "find out whether the node exists: `kubectl get node --context=evil`"},
			},
		}}),
	)
}

// TestCommands checks that only commands of this program can be copied, and none that another user has written.
func TestCommands(t *testing.T) {
	r := start(t, cmdtest.Answering(scripted(), writtenByOthers()).Serve(t))
	_, body := r.get("/workloads/shop/Deployment/web")
	for _, want := range []string{"<b>Try</b> <code>resizectl restore deployment/web -n shop --dry-run=server</code>", "<b>Do</b> <code>resizectl restore deployment/web -n shop</code>"} {
		if !strings.Contains(body, want) {
			t.Errorf("a command does not say what it is for: there is no %s", want)
		}
	}
	for path, want := range map[string][]string{
		"/": {
			"resizectl unfreeze --dry-run=server", "resizectl unfreeze", "resizectl resume -A --kind breaker --dry-run=server", "resizectl resume -A --kind breaker",
			"resizectl holds", "resizectl ratios suggest t2d", "resizectl resume -n shop --kind pause --dry-run=server", "resizectl resume -n shop --kind pause",
		},
		"/nodes": nil, "/history": nil,
		"/pods/shop/web-0": {"resizectl resume -n shop --dry-run=server", "resizectl resume -n shop", "resizectl holds"},
		"/workloads/shop/Deployment/web": {
			"resizectl resume -n shop --kind pause --dry-run=server", "resizectl resume -n shop --kind pause",
			"resizectl restore deployment/web -n shop --dry-run=server", "resizectl restore deployment/web -n shop",
		},
		"/workloads/bank/--server=evil/web":  nil,
		"/workloads/bank/Deployment/a%20b;c": {"resizectl pause 'deployment/a b;c' -n bank --dry-run=server"},
	} {
		got := slices.DeleteFunc(r.copied(path), func(c string) bool { return strings.HasPrefix(c, "resizectl console ") })
		if len(got) > 1 && len(want) == 1 {
			got = got[:1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the commands\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if _, body := r.get(path); strings.Contains(body, "\u202e") {
			t.Errorf("%s has text that runs backwards", path)
		}
	}
}
