package usage

import (
	"cmp"
	"context"
	"errors"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"

	"google.golang.org/grpc/status"
)

// pageSizes are the numbers of recommendations on a page.
var pageSizes = paging.Sizes{Default: 500, Max: 5000}

// ListRecommendations implements workloadresizerv1.UsageServiceServer.
func (s *Service) ListRecommendations(ctx context.Context, request *workloadresizerv1.ListRecommendationsRequest) (*workloadresizerv1.ListRecommendationsResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	after, err := placeOf(page.After)
	if err != nil {
		return nil, paging.TokenError(err)
	}
	view := s.config.Viewer.View(ctx)
	of := demand.Selection{Namespace: request.GetNamespace(), Visible: view.Visible, From: after.container.Namespace}
	if request.GetWorkload() != nil {
		of.Workloads = []usagestore.Workload{workloadOf(of.Namespace, request.GetWorkload())}
	}
	if of.Selector, err = translate.Selector(request.GetLabelSelector()); err != nil {
		return nil, err
	}
	if err := access.MustSee(view, of.Namespace); err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	release, err := s.config.Slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	response := &workloadresizerv1.ListRecommendationsResponse{Currency: currency(table)}
	response.Recommendations, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Recommendation) bool) {
		for item, failed := range s.config.Demands.Report(ctx, of) {
			if err = failed; err != nil {
				return
			}
			at := place{item.Container, item.Rule}
			if page.After != "" && at.compare(&after) <= 0 {
				continue
			}
			if !yield(at.text(), message(item, table.Prices != nil)) {
				return
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	case err != nil:
		return nil, err // From the view.
	}
	return response, nil
}

// workloadOf returns the workload of a request; with an empty namespace, that of all namespaces.
func workloadOf(namespace string, m *workloadresizerv1.Workload) usagestore.Workload {
	return usagestore.Workload{Namespace: namespace, Kind: m.GetKind(), Name: m.GetName()}
}

// place is where a list has got.
type place struct {
	container history.Container
	rule      string
}

// separator occurs in no part of a place.
const separator = "\x00"

func (p *place) text() string {
	return strings.Join([]string{p.container.Namespace, p.container.Kind, p.container.Workload, p.container.Name, p.rule}, separator)
}

func (p *place) compare(o *place) int {
	return cmp.Or(p.container.Compare(o.container), cmp.Compare(p.rule, o.rule))
}

// placeOf reads what text returned; an empty string is before all places.
func placeOf(text string) (place, error) {
	if text == "" {
		return place{}, nil
	}
	parts := strings.Split(text, separator)
	if len(parts) != 5 {
		return place{}, errors.New("it is of another list")
	}
	return place{history.Container{Namespace: parts[0], Kind: parts[1], Workload: parts[2], Name: parts[3]}, parts[4]}, nil
}
