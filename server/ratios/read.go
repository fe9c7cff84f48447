package ratios

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Numbers of items on a page.
var (
	ratiosSizes = paging.Sizes{Default: 500, Max: 1000}
	rulesSizes  = paging.Sizes{Default: 100, Max: 1000}
)

// ListRatios implements workloadresizerv1.RatioServiceServer.
func (s *Service) ListRatios(_ context.Context, request *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	table, page, after, err := s.page(request, ratiosSizes)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: table.Baseline,
		Bounds:           Bounds(table.Bounds),
		Revision:         table.Revision,
		DemandMode:       values.DemandMode(&table.Profiles()[0].Demand),
		UnusedDemandMode: values.UnusedDemandMode(&table.Profiles()[0].Demand),
		MaxSpeedRatio:    table.Profiles()[0].MaxSpeedRatio,
	}
	messages := s.log.messages.of(table)
	response.Ratios, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Ratio) bool) {
		for _, nodeType := range table.NodeTypes() {
			if nodeType > after && !yield(table.Revision+" "+nodeType, messages.ratios[nodeType]) {
				return
			}
		}
	})
	response.Sources = s.Sources()
	return response, nil
}

// Sources returns the sources of ratios.
func (s *Service) Sources() (all []*workloadresizerv1.RatioSource) {
	for _, source := range s.config.Store.Sources() {
		told := &workloadresizerv1.RatioSource{Name: source.Name, Healthy: source.Err == nil, LastGoodTime: values.Timestamp(source.LastGood)}
		if source.Err != nil {
			told.Message = source.Err.Error()
		} else if err := s.missing(source.Name); err != nil {
			told.Message = err.Error()
		}
		all = append(all, told)
	}
	return all
}

// ListRatioRules implements workloadresizerv1.RatioServiceServer.
func (s *Service) ListRatioRules(_ context.Context, request *workloadresizerv1.ListRatioRulesRequest) (*workloadresizerv1.ListRatioRulesResponse, error) {
	table, page, after, err := s.page(request, rulesSizes)
	if err != nil {
		return nil, err
	}
	globals, rules := table.Profiles()[0], table.Profiles()[1:]
	// The names of rules can be long, and their places are the same as long as the table is.
	sent := uint64(0)
	if page.After != "" {
		if sent, err = strconv.ParseUint(after, 10, 64); err != nil {
			return nil, paging.TokenError(paging.ErrToken)
		}
	}
	response := &workloadresizerv1.ListRatioRulesResponse{Revision: table.Revision}
	response.Rules, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.RatioRule) bool) {
		for i := min(sent, uint64(len(rules))); i < uint64(len(rules)); i++ {
			if !yield(fmt.Sprint(table.Revision, " ", i+1), ratioRule(globals, rules[i])) {
				return
			}
		}
	})
	return response, nil
}

// page returns the table in effect, and the page of it that a request asks for. Tokens name the
// revision, since pages of different tables do not fit together.
func (s *Service) page(request paging.Request, sizes paging.Sizes) (table *ratios.Table, page paging.Page, after string, err error) {
	if page, err = paging.Of(request, sizes); err != nil {
		return nil, page, "", err
	}
	if table, err = s.Table(); err != nil {
		return nil, page, "", err
	}
	revision, after, _ := strings.Cut(page.After, " ")
	if page.After != "" && revision != table.Revision {
		return nil, page, "", rpcerror.New(rpcerror.TableChanged, "the ratio table has changed since the previous page: list again from the first page")
	}
	return table, page, after, nil
}

// missing returns why nothing can be written to a healthy source.
func (s *Service) missing(source string) error {
	if s.config.Overrides == nil || source != override.Source {
		return nil
	}
	return s.config.Overrides.Missing()
}

// GetRatio implements workloadresizerv1.RatioServiceServer.
func (s *Service) GetRatio(_ context.Context, request *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	table, err := s.Table()
	if err != nil {
		return nil, err
	}
	if request.GetRule() != "" {
		return ratioInRule(table, request.GetRule(), request.GetNodeType())
	}
	r := s.log.messages.of(table).ratios[request.GetNodeType()]
	if r == nil {
		return nil, nodeTypeUnknown(request.GetNodeType())
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: r, Revision: table.Revision}, nil
}

func ratioInRule(table *ratios.Table, rule, nodeType string) (*workloadresizerv1.GetRatioResponse, error) {
	rules := table.Profiles()[1:]
	at := slices.IndexFunc(rules, func(p *ratios.Profile) bool { return p.Name == rule })
	if at < 0 {
		return nil, rpcerror.NotFound(rpcerror.RuleUnknown, "rule", rule, fmt.Sprintf("no rule has the name %q: ListRatioRules returns the names", rule))
	}
	entry, ok := rules[at].Lookup(nodeType)
	if !ok {
		return nil, nodeTypeUnknown(nodeType)
	}
	return &workloadresizerv1.GetRatioResponse{Ratio: Message(rules[at].Baseline, entry), Revision: table.Revision}, nil
}

// nodeTypeUnknown returns the error for a node type that is not in the table.
func nodeTypeUnknown(nodeType string) error {
	return rpcerror.NotFound(rpcerror.NodeTypeUnknown, "node type", nodeType, fmt.Sprintf("node type %q has no ratio", nodeType))
}
