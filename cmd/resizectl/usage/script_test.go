package usage

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// server returns a server that knows this. Lists have pages of two.
func (k *known) server() *cmdtest.Fake {
	return cmdtest.Answering(
		cmdtest.Returns(k.sources),
		cmdtest.On(func(req *workloadresizerv1.ListRecommendationsRequest) (*workloadresizerv1.ListRecommendationsResponse, error) {
			return cmdtest.Page(2, &workloadresizerv1.ListRecommendationsResponse{Recommendations: selected(k.recommendations, req), Currency: k.currency}, req), nil
		}),
		cmdtest.On(func(req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
			return cmdtest.Page(2, &workloadresizerv1.ListSavingsResponse{Savings: selected(k.savings, req), Currency: k.currency}, req), nil
		}),
		cmdtest.On(func(req *workloadresizerv1.GetRecommendationRequest) (*workloadresizerv1.GetRecommendationResponse, error) {
			containers, found := k.explained[req.GetWorkload().GetName()]
			if !found {
				return nil, cmdtest.WithReason(codes.NotFound, "USAGE_UNKNOWN", "the usage of workload "+req.GetNamespace()+"/"+req.GetWorkload().GetKind()+"/"+req.GetWorkload().GetName()+
					" is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for")
			}
			return &workloadresizerv1.GetRecommendationResponse{Containers: containers, Currency: k.currency}, nil
		}),
		cmdtest.On(func(req *workloadresizerv1.GetUsageHistoryRequest) (*workloadresizerv1.GetUsageHistoryResponse, error) {
			return &workloadresizerv1.GetUsageHistoryResponse{NodeTypes: k.history, Workload: countsFor(req.GetWorkload())}, nil
		}),
	)
}

// serve starts that server and returns its address.
func (k *known) serve(t *testing.T) string {
	t.Helper()
	return k.server().Serve(t)
}

// ofWorkload is an item of a list, or a request for such a list.
type ofWorkload interface {
	GetNamespace() string
	GetWorkload() *workloadresizerv1.Workload
}

// selected returns the items in the namespace and of the workload of a request.
func selected[T ofWorkload](all []T, req ofWorkload) (found []T) {
	for _, item := range all {
		inNamespace := req.GetNamespace() == "" || item.GetNamespace() == req.GetNamespace()
		if inNamespace && (req.GetWorkload() == nil || proto.Equal(item.GetWorkload(), countsFor(req.GetWorkload()))) {
			found = append(found, item)
		}
	}
	return found
}

// countsFor returns what the pods of a workload count for: those of a ReplicaSet here count for a StatefulSet.
func countsFor(of *workloadresizerv1.Workload) *workloadresizerv1.Workload {
	if of.GetKind() != "ReplicaSet" {
		return of
	}
	return &workloadresizerv1.Workload{Kind: "StatefulSet", Name: of.GetName()}
}
