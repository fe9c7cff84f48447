package ratios

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// serve starts a RatioService without overrides.
func serve(t *testing.T, of servertest.Setup) (*servertest.Parts, workloadresizerv1.RatioServiceClient) {
	t.Helper()
	p := servertest.New(t, of)
	s := New(Config{Store: p.Store, Impacts: p.Loop, Viewer: servertest.All, Watches: streams.NewWatches()})
	p.Run(t, func(ctx context.Context) error { s.Run(ctx); return nil })
	return p, workloadresizerv1.NewRatioServiceClient(servertest.Connect(t, s))
}

func TestListRatios(t *testing.T) {
	r, client := serve(t, servertest.Setup{})
	got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	from := &workloadresizerv1.Provenance{Source: "configmap", UpdateTime: timestamppb.New(servertest.Written), Author: "kubectl"}
	want := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: "n2d",
		Bounds:           &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"}, Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"}},
		Revision:         r.Store.Table().Revision,
		Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "n2d", CpuPerf: 1, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1, MemoryPerf: 1, Provenance: from}}},
			{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 0.8, MemoryFactor: 1, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1.25, MemoryPerf: 1, Provenance: from}}},
		},
		Sources:       []*workloadresizerv1.RatioSource{{Name: "configmap", Healthy: true}},
		MaxSpeedRatio: 5,
		DemandMode:    workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR,
	}
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.RatioSource{}, "last_good_time")); diff != "" {
		t.Error(diff)
	}
	if got.GetSources()[0].GetLastGoodTime() == nil {
		t.Error("the source has no last good time")
	}

	changes := r.Store.Watch()
	r.Source.Set(ratios.Update{Err: errors.New("min 2 > max 1")})
	<-changes
	bad, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s := bad.GetSources()[0]; s.GetHealthy() || s.GetMessage() != "min 2 > max 1" || s.GetLastGoodTime() == nil || bad.GetRevision() != want.GetRevision() {
		t.Errorf("with invalid content: %v", bad)
	}
}

func TestGetRatio(t *testing.T) {
	r, client := serve(t, servertest.Setup{})
	got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetRatio().GetNodeType() != "n4" || got.GetRatio().GetCpuFactor() != 0.8 || got.GetRevision() != r.Store.Table().Revision {
		t.Errorf("got %v", got)
	}
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "c3"})
	servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "node_type must be set")
}

// madeUp returns a token for a page of a list, which anybody can make who has read how.
func madeUp(request proto.Message, last string) string {
	sum := crc32.ChecksumIEEE([]byte(string(request.ProtoReflect().Descriptor().FullName()) + last))
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint32([]byte{2}, sum), last...))
}

func TestPages(t *testing.T) {
	l := servertest.Layer()
	for i := range 5 {
		l.Ratios[fmt.Sprintf("c%d", i)] = ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
		l.Rules = append(l.Rules, ratios.Rule{Name: fmt.Sprintf("overrides[%d]", i), Match: policy.Criteria{ComputeClass: "Performance"}, Baseline: "n4"})
	}
	l.Rules[1].Name += " (" + strings.Repeat("long", 1000) + ")"
	r, client := serve(t, servertest.Setup{Ratios: ratios.Update{Layer: l}})
	// The lists of this service, as the names of the items on a page and the token of the next one.
	lists := map[string]func(size int32, token string) ([]string, string, error){
		"ratios": func(size int32, token string) (names []string, next string, err error) {
			page, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{PageSize: size, PageToken: token})
			for _, r := range page.GetRatios() {
				names = append(names, r.GetNodeType())
			}
			return names, page.GetNextPageToken(), err
		},
		"rules": func(size int32, token string) (names []string, next string, err error) {
			page, err := client.ListRatioRules(t.Context(), &workloadresizerv1.ListRatioRulesRequest{PageSize: size, PageToken: token})
			for _, r := range page.GetRules() {
				names = append(names, r.GetName())
			}
			return names, page.GetNextPageToken(), err
		},
	}
	want := map[string][]string{
		"ratios": {"c0", "c1", "c2", "c3", "c4", "n2d", "n4"},
		"rules":  {"overrides[0]", l.Rules[1].Name, "overrides[2]", "overrides[3]", "overrides[4]"},
	}
	tokens := map[string]string{}
	for name, list := range lists {
		t.Run("all "+name+" through tokens", func(t *testing.T) {
			for _, size := range []int32{0, 1, 2, 5, 7, 1 << 30} {
				var got []string
				pages := 0
				for token := ""; token != "" || pages == 0; pages++ {
					page, next, err := list(size, token)
					if err != nil {
						t.Fatal(err)
					}
					got, token = append(got, page...), next
					if next != "" {
						tokens[name] = next
					}
				}
				full := len(want[name])
				if size > 0 && int(size) < full {
					full = int(size)
				}
				if diff := cmp.Diff(want[name], got); diff != "" || pages != (len(want[name])+full-1)/full {
					t.Errorf("page_size %d: %d pages\n%s", size, pages, diff)
				}
			}
		})
	}
	t.Run("a token of another list is invalid", func(t *testing.T) {
		for name, other := range map[string]string{"ratios": "rules", "rules": "ratios"} {
			_, _, err := lists[name](0, tokens[other])
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid")
		}
	})
	t.Run("a token that a caller has made up is invalid", func(t *testing.T) {
		for _, after := range []string{"-1", "x", "", "99999999999999999999"} {
			_, _, err := lists["rules"](0, madeUp(&workloadresizerv1.ListRatioRulesRequest{}, r.Store.Table().Revision+" "+after))
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid")
		}
		if got, next, err := lists["rules"](0, madeUp(&workloadresizerv1.ListRatioRulesRequest{}, r.Store.Table().Revision+" 99")); len(got) > 0 || next != "" || err != nil {
			t.Errorf("after the last rule: %v, %q, %v", got, next, err)
		}
	})
	t.Run("pages of different tables are not mixed", func(t *testing.T) {
		changed := r.Store.Watch()
		l := servertest.Layer()
		l.Settings = keys.Partial[policy.Settings]{}
		r.Source.Set(ratios.Update{Layer: l})
		<-changed
		for name, list := range lists {
			_, _, err := list(0, tokens[name])
			servertest.CheckError(t, err, codes.Aborted, "TABLE_CHANGED", "the ratio table has changed since the previous page: list again from the first page")
		}
	})
}

func TestRules(t *testing.T) {
	l := servertest.Layer()
	l.Rules = []ratios.Rule{
		{
			Name: "overrides[0] (critical)", Match: policy.Criteria{ComputeClass: "Performance"}, Baseline: "n4",
			Ratios: map[string]ratios.Ratio{"c3": {CPUPerf: 2.5, MemoryPerf: 1}}, MaxSpeedRatio: 7,
		},
		{
			Name: "overrides[1]", Match: policy.Criteria{ComputeClass: "Balanced"},
			Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{Memory: sizing.Range{Min: 128 << 20}}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial}}, "bounds.cpu.max"),
		},
		{Name: "overrides[2]", Match: policy.Criteria{Namespace: "a"}, Settings: keys.Some(policy.Settings{Demand: policy.Demand{Mode: policy.Apply}})},
		{Name: "overrides[3]", Match: policy.Criteria{Namespace: "b"}, Settings: keys.Some(policy.Settings{Demand: policy.Demand{Mode: policy.Observe}})},
	}
	l.Settings = keys.Some(policy.Settings{Demand: policy.Demand{Mode: policy.Initial}}).Over(l.Settings)
	_, client := serve(t, servertest.Setup{Ratios: ratios.Update{Layer: l}})
	t.Run("contain only what they set, and their mode", func(t *testing.T) {
		got, err := client.ListRatioRules(t.Context(), &workloadresizerv1.ListRatioRulesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		want := []*workloadresizerv1.RatioRule{
			{
				Name: "overrides[0] (critical)", BaselineNodeType: "n4", MaxSpeedRatio: new(7.0), DemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR,
				Ratios: []*workloadresizerv1.Ratio{{NodeType: "c3", CpuPerf: 2.5, MemoryPerf: 1, CpuFactor: 0.5, MemoryFactor: 1}},
			},
			{
				Name: "overrides[1]", DemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL,
				Bounds: &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Max: "0"}, Memory: &workloadresizerv1.QuantityRange{Min: "128Mi"}},
			},
			{Name: "overrides[2]", DemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR, UnusedDemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_APPLY},
			{Name: "overrides[3]", DemandMode: workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR},
		}
		if diff := cmp.Diff(want, got.GetRules(), protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Ratio{}, "provenance", "candidates")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("have a mode for all pods that is not used without them", func(t *testing.T) {
		got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
		if mode := got.GetUnusedDemandMode(); err != nil || mode != workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL {
			t.Errorf("%v, %v", mode, err)
		}
	})
	t.Run("apply to the ratios of their pods", func(t *testing.T) {
		for _, tc := range []struct {
			rule, nodeType string
			factor         float64
			baseline       bool
		}{
			{"overrides[0] (critical)", "c3", 0.5, false},
			{"overrides[0] (critical)", "n2d", 1.25, false},
			{"overrides[0] (critical)", "n4", 1, true},
			{"overrides[1]", "n2d", 1, true},
			{"", "n4", 0.8, false},
		} {
			got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: tc.nodeType, Rule: tc.rule})
			if r := got.GetRatio(); err != nil || r.GetNodeType() != tc.nodeType || r.GetCpuFactor() != tc.factor || r.GetBaseline() != tc.baseline || got.GetRevision() == "" {
				t.Errorf("%s by %q: %v, %v", tc.nodeType, tc.rule, got, err)
			}
		}
		_, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4", Rule: "overrides[9]"})
		servertest.CheckError(t, err, codes.NotFound, "RULE_UNKNOWN", `no rule has the name "overrides[9]": ListRatioRules returns the names`)
		for rule, nodeType := range map[string]string{"": "c3", "overrides[1]": "c3", "overrides[0] (critical)": "c4"} {
			_, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: nodeType, Rule: rule})
			servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "`+nodeType+`" has no ratio`)
		}
	})
}

func TestImplausibleByRule(t *testing.T) {
	l := servertest.Layer()
	l.Ratios["slow"] = ratios.Ratio{CPUPerf: 0.25, MemoryPerf: 1}
	l.Ratios["typo"] = ratios.Ratio{CPUPerf: 125, MemoryPerf: 1}
	match := policy.Criteria{ComputeClass: "Performance"}
	l.Rules = []ratios.Rule{
		{Name: "baseline", Match: match, Baseline: "slow", MaxSpeedRatio: 4.5},
		{Name: "strict", Match: match, MaxSpeedRatio: 3},
		{Name: "named", Match: match, Ratios: map[string]ratios.Ratio{"n4": {CPUPerf: 7, MemoryPerf: 1}}},
		{Name: "as all", Match: match, Settings: keys.Some(policy.Settings{}, "bounds.cpu.max")},
	}
	_, client := serve(t, servertest.Setup{Ratios: ratios.Update{Layer: l}})
	got, err := client.ListRatioRules(t.Context(), &workloadresizerv1.ListRatioRulesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"baseline": {"n4", "typo"}, "strict": {"slow", "typo"}, "named": {"n4"}, "as all": nil}
	for _, rule := range got.GetRules() {
		if types := slices.Sorted(maps.Keys(rule.GetImplausible())); !slices.Equal(types, want[rule.GetName()]) {
			t.Errorf("%s: %v", rule.GetName(), rule.GetImplausible())
		}
		for nodeType, why := range rule.GetImplausible() {
			one, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: nodeType, Rule: rule.GetName()})
			if err != nil || one.GetRatio().GetImplausible() != why {
				t.Errorf("%s by %s: %q, but its ratio has %q, %v", nodeType, rule.GetName(), why, one.GetRatio().GetImplausible(), err)
			}
		}
	}
}

// Many rules on a large table fit into messages of the default size.
func TestManyRules(t *testing.T) {
	l := servertest.Layer()
	for i := range 500 {
		l.Ratios[fmt.Sprintf("c%d", i)] = ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
	}
	for i := range 1000 {
		l.Rules = append(l.Rules, ratios.Rule{Name: fmt.Sprintf("overrides[%d]", i), Match: policy.Criteria{ComputeClass: "Performance"}, Baseline: "n4"})
	}
	_, client := serve(t, servertest.Setup{Ratios: ratios.Update{Layer: l}})
	got, err := client.ListRatioRules(t.Context(), &workloadresizerv1.ListRatioRulesRequest{PageSize: 1000})
	if err != nil || len(got.GetRules()) != 1000 || got.GetNextPageToken() != "" {
		t.Fatalf("%d rules, token %q, %v", len(got.GetRules()), got.GetNextPageToken(), err)
	}
	if size := proto.Size(got); size > 100_000 {
		t.Errorf("1000 rules with one setting each are %d bytes", size)
	}
}

func TestEtags(t *testing.T) {
	_, client := serve(t, servertest.Setup{})
	got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	if err != nil || got.GetRatio().GetEtag() != "" {
		t.Errorf("a ratio that cannot be overridden has the etag %q, %v", got.GetRatio().GetEtag(), err)
	}
}
