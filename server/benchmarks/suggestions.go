package benchmarks

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// suggestionsSizes are the numbers of suggestions on a page.
var suggestionsSizes = paging.Sizes{Default: 500, Max: 1000}

// ListSuggestions implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) ListSuggestions(ctx context.Context, request *workloadresizerv1.ListSuggestionsRequest) (*workloadresizerv1.ListSuggestionsResponse, error) {
	page, err := paging.Of(request, suggestionsSizes)
	if err != nil {
		return nil, err
	}
	from, err := s.suggester(ctx)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListSuggestionsResponse{BaselineNodeType: from.view.Baseline}
	response.Suggestions, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Suggestion) bool) {
		for _, e := range from.estimates() {
			if e.NodeType > page.After && !yield(e.NodeType, from.suggestion(&e)) {
				return
			}
		}
	})
	return response, nil
}

// GetSuggestion implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) GetSuggestion(ctx context.Context, request *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
	nodeType := request.GetNodeType()
	from, err := s.suggester(ctx)
	if err != nil {
		return nil, err
	}
	all := from.estimates()
	at := slices.IndexFunc(all, func(e estimate.Estimate) bool { return e.NodeType == nodeType })
	if at < 0 {
		message := fmt.Sprintf("neither benchmarks nor production cover node type %q", nodeType)
		if nodeType == from.view.Baseline {
			message = fmt.Sprintf("node type %q is the baseline, to which all others are compared", nodeType)
		}
		return nil, rpcerror.NotFound(rpcerror.NoSuggestion, "suggestion", nodeType, message)
	}
	response := &workloadresizerv1.GetSuggestionResponse{Suggestion: from.suggestion(&all[at])}
	if response.GetSuggestion().CpuPerf == nil {
		return response, nil
	}
	table, err := s.accepted(response.GetSuggestion())
	if err != nil {
		return nil, err
	}
	response.Impact, err = s.config.Ratios.Impact(ctx, table, s.config.Slots)
	return response, err
}

// accepted returns the table that accepting a suggestion would result in.
func (s *Service) accepted(m *workloadresizerv1.Suggestion) (*ratios.Table, error) {
	ratio := ratios.Ratio{CPUPerf: m.GetCpuPerf(), MemoryPerf: m.GetMemoryPerf(), Provenance: ratios.Provenance{Source: "suggestion"}}
	table, err := s.config.Store.WhatIf(ratios.Assumed{Layer: &ratios.Layer{Ratios: map[string]ratios.Ratio{m.GetNodeType(): ratio}}})
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.RatiosNotReady, err)
	}
	return table, nil
}

// suggester creates suggestions from the state at one moment.
type suggester struct {
	view *judge.View
	// shown is what production shows; nil if the server does not use that source.
	shown *production.View
	// contradictions are the ratios that it contradicts.
	contradictions []production.Contradiction
	// compared are the workloads that differ on the node types, as far as the caller can see them.
	compared map[evidence.Key]*demand.Compared
	table    *ratios.Table
	ratios   Ratios
}

// suggester returns a suggester for the current state, or an error if too little is known.
func (s *Service) suggester(ctx context.Context) (*suggester, error) {
	var view *judge.View
	if s.config.Benchmarks != nil || s.config.Production == nil {
		var err error
		if view, err = s.view(); err != nil {
			return nil, err
		}
	}
	table, err := s.config.Ratios.Table()
	if err != nil {
		return nil, err
	}
	if view == nil { // Only production is used.
		defaults := settings.Defaults()
		view = &judge.View{Settings: &defaults, Baseline: table.Baseline}
	}
	if view.Baseline == "" {
		return nil, rpcerror.New(rpcerror.RatiosNotReady, "not ready: no baseline is known to compare benchmarks with")
	}
	from := &suggester{view: view, table: table, ratios: s.config.Ratios}
	if s.config.Production != nil {
		from.shown = s.config.Production.View()
		from.contradictions = Contradictions(from.shown, table, view)
	}
	from.compared, err = s.compared(ctx, from.shown)
	return from, err
}

// estimates returns the estimates by node type. They include node types whose samples are
// gone while their ratio still moves back, and those that only production knows.
func (s *suggester) estimates() []estimate.Estimate {
	all := slices.Clone(s.view.Estimates)
	add := func(nodeType, doubt string) {
		if !slices.ContainsFunc(all, func(e estimate.Estimate) bool { return e.NodeType == nodeType }) {
			all = append(all, estimate.Estimate{
				NodeType: nodeType, Baseline: s.view.Baseline,
				Doubts: []estimate.Doubt{{Code: estimate.TooFewSamples, Message: doubt}},
			})
		}
	}
	for nodeType := range s.view.Progress {
		add(nodeType, "no samples are left")
	}
	if s.shown != nil && s.shown.Baseline == s.view.Baseline {
		for i := range s.shown.Suggestions {
			add(s.shown.Suggestions[i].NodeType, "no benchmark covers the node type")
		}
		for nodeType := range s.shown.Progress {
			add(nodeType, "no benchmark covers the node type")
		}
	}
	slices.SortFunc(all, func(a, b estimate.Estimate) int { return cmp.Compare(a.NodeType, b.NodeType) })
	return all
}
