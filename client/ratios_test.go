package client

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// pagedTable is a server with a table in two pages, which changes between them as many times as
// changes says.
type pagedTable struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	changes, calls int
	// newer is how many lists of rules are already about a newer table than that of the ratios.
	newer int
}

// second reports whether a token is of the second page.
func (s *pagedTable) second(token string) (bool, error) {
	s.calls++
	if token != "" && s.changes > 0 {
		s.changes--
		return true, reasoned(codes.Aborted, "TABLE_CHANGED")
	}
	return token != "", nil
}

func (s *pagedTable) ListRatios(_ context.Context, req *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	page := &workloadresizerv1.ListRatiosResponse{
		Ratios: []*workloadresizerv1.Ratio{{NodeType: "c3"}}, Revision: "r", NextPageToken: "c3",
		Sources: []*workloadresizerv1.RatioSource{{Name: "file"}},
	}
	second, err := s.second(req.GetPageToken())
	if second {
		page.Ratios[0].NodeType, page.NextPageToken = "n4", ""
	}
	return page, err
}

func (s *pagedTable) ListRatioRules(_ context.Context, req *workloadresizerv1.ListRatioRulesRequest) (*workloadresizerv1.ListRatioRulesResponse, error) {
	page := &workloadresizerv1.ListRatioRulesResponse{Rules: []*workloadresizerv1.RatioRule{{Name: "a"}}, Revision: "r", NextPageToken: "a"}
	second, err := s.second(req.GetPageToken())
	if second {
		page.Rules[0].Name, page.NextPageToken = "b", ""
	}
	if s.newer > 0 {
		page.Revision = "newer"
		if second {
			s.newer--
		}
	}
	return page, err
}

func TestTable(t *testing.T) {
	ratios := &workloadresizerv1.ListRatiosResponse{
		Ratios: []*workloadresizerv1.Ratio{{NodeType: "c3"}, {NodeType: "n4"}}, Revision: "r", Sources: []*workloadresizerv1.RatioSource{{Name: "file"}},
	}
	rules := &workloadresizerv1.ListRatioRulesResponse{Rules: []*workloadresizerv1.RatioRule{{Name: "a"}, {Name: "b"}}, Revision: "r"}
	for _, tc := range []struct {
		name           string
		changes, calls int
		reason         string
	}{
		{"has the items of all pages", 0, 2, ""},
		{"is listed again if it changes meanwhile", 2, 6, ""},
		{"is given up if it changes all the time", 100, 10, "TABLE_CHANGED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &pagedTable{changes: tc.changes}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterRatioServiceServer(s, server) })
			listed, err := c.ListRatios(t.Context())
			if Reason(err) != tc.reason || server.calls != tc.calls {
				t.Errorf("ratios: %v after %d calls, want %d", err, server.calls, tc.calls)
			}
			if diff := cmp.Diff(ratios, listed, protocmp.Transform()); tc.reason == "" && diff != "" {
				t.Errorf("wrong ratios (-want +got):\n%s", diff)
			}
			server.changes, server.calls = tc.changes, 0
			ruled, err := c.ListRatioRules(t.Context())
			if Reason(err) != tc.reason || server.calls != tc.calls {
				t.Errorf("rules: %v after %d calls, want %d", err, server.calls, tc.calls)
			}
			if diff := cmp.Diff(rules, ruled, protocmp.Transform()); tc.reason == "" && diff != "" {
				t.Errorf("wrong rules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRatiosAndRules(t *testing.T) {
	for _, tc := range []struct {
		name         string
		newer, calls int
		works        bool
	}{
		{"are of the same table", 0, 4, true},
		{"are listed again if the table changes in between", 2, 12, true},
		{"are given up if it changes all the time", 100, 20, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &pagedTable{newer: tc.newer}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterRatioServiceServer(s, server) })
			table, rules, err := c.ListRatiosAndRules(t.Context())
			if (err == nil) != tc.works || server.calls != tc.calls || table.GetRevision() != rules.GetRevision() {
				t.Errorf("revisions %q and %q after %d calls: %v", table.GetRevision(), rules.GetRevision(), server.calls, err)
			}
		})
	}
}
