package usage

import (
	"cmp"
	"context"
	"errors"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/translate"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
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
	of, table, release, err := s.begin(ctx, request, after.container.Namespace)
	if err != nil {
		return nil, err
	}
	defer release()
	response := &workloadresizerv1.ListRecommendationsResponse{Currency: currency(table)}
	response.Recommendations, response.NextPageToken, err = paging.FillFrom(ctx, page, s.config.Demands.Report(ctx, of), func(item *demand.Item) (string, *workloadresizerv1.Recommendation) {
		at := place{item.Container, item.Rule}
		if page.After != "" && at.compare(&after) <= 0 {
			return "", nil
		}
		return at.text(), message(item, table.Prices != nil)
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// begin returns what a list selects, from a namespace, and the table of ratios. The caller must call release.
func (s *Service) begin(ctx context.Context, request Selecting, from string) (of demand.Selection, table *ratios.Table, release func(), err error) {
	if of, err = Selection(s.config.Viewer.View(ctx), request, from); err != nil {
		return of, nil, nil, err
	}
	if table, err = s.table(); err != nil {
		return of, nil, nil, err
	}
	release, err = s.config.Slots.Take(ctx)
	return of, table, release, err
}

// Selecting is a request for a list of workloads or their containers.
type Selecting interface {
	GetNamespace() string
	GetWorkload() *workloadresizerv1.Workload
	GetLabelSelector() string
}

// Selection returns what a list selects, from a namespace, or an error if the caller cannot see it.
func Selection(view access.View, request Selecting, from string) (of demand.Selection, err error) {
	of = demand.Selection{Namespace: request.GetNamespace(), Visible: view.Visible, From: from}
	if request.GetWorkload() != nil {
		of.Workloads = []usagestore.Workload{workloadOf(of.Namespace, request.GetWorkload())}
	}
	if of.Selector, err = translate.Selector(request.GetLabelSelector()); err != nil {
		return of, err
	}
	return of, access.MustSee(view, of.Namespace)
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
