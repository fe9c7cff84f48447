package apirules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
)

var (
	methods  = methodsOfAPI()
	requests = reachable(func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Input() })
	answers  = reachable(func(m protoreflect.MethodDescriptor) protoreflect.MessageDescriptor { return m.Output() })
)

func methodsOfAPI() (all []protoreflect.MethodDescriptor) {
	api := workloadresizerv1.File_workloadresizer_v1_ratio_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(api, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				all = append(all, file.Services().Get(i).Methods().Get(j))
			}
		}
		return true
	})
	return all
}

// reachable returns the fields of our messages that a message of any method can contain, by their
// names, e.g. "Bounds.cpu".
func reachable(of func(protoreflect.MethodDescriptor) protoreflect.MessageDescriptor) map[string]protoreflect.FieldDescriptor {
	all := map[string]protoreflect.FieldDescriptor{}
	seen := map[protoreflect.FullName]bool{}
	var add func(protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] || m.ParentFile().Package() != methods[0].ParentFile().Package() || m.IsMapEntry() {
			return
		}
		seen[m.FullName()] = true
		for field := range fieldsOf(m) {
			all[nameOf(field)] = field
			// The server ignores what a request has in fields for output.
			if field.Message() != nil && !slices.Contains(behaviors(field), annotations.FieldBehavior_OUTPUT_ONLY) {
				add(field.Message())
			}
		}
	}
	for _, m := range methods {
		add(of(m))
	}
	return all
}

func fieldsOf(m protoreflect.MessageDescriptor) func(func(protoreflect.FieldDescriptor) bool) {
	return func(yield func(protoreflect.FieldDescriptor) bool) {
		for i := range m.Fields().Len() {
			if !yield(m.Fields().Get(i)) {
				return
			}
		}
	}
}

func nameOf(field protoreflect.FieldDescriptor) string {
	return fmt.Sprintf("%s.%s", field.Parent().Name(), field.Name())
}

// all returns the fields of requests and responses, in the order of their names.
func all() func(func(string, protoreflect.FieldDescriptor) bool) {
	fields := maps.Clone(requests)
	maps.Copy(fields, answers)
	return func(yield func(string, protoreflect.FieldDescriptor) bool) {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !yield(name, fields[name]) {
				return
			}
		}
	}
}

func behaviors(field protoreflect.FieldDescriptor) []annotations.FieldBehavior {
	return proto.GetExtension(field.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
}

// writes reports whether a method changes something, as its rights say.
func writes(m protoreflect.MethodDescriptor) bool {
	rights := access.Methods()[fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())].Rights
	return slices.ContainsFunc(rights, func(r access.Right) bool {
		return slices.Contains([]string{"create", "update", "delete"}, r.Verb) && r.Resource != "plans"
	})
}

// field returns a field of a message, nil if it has none of that name.
func field(m protoreflect.MessageDescriptor, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.Fields().ByName(name)
}

func TestFieldBehavior(t *testing.T) {
	t.Run("every field of a request is marked as required, optional or otherwise", func(t *testing.T) {
		for name, field := range requests {
			needed := 0
			for _, behavior := range behaviors(field) {
				switch behavior {
				case annotations.FieldBehavior_OPTIONAL, annotations.FieldBehavior_REQUIRED, annotations.FieldBehavior_OUTPUT_ONLY:
					needed++
				}
			}
			if needed != 1 {
				t.Errorf("%s has the behavior %v", name, behaviors(field))
			}
		}
	})
	t.Run("a field that only responses contain says nothing", func(t *testing.T) {
		for name, field := range answers {
			if _, ok := requests[name]; !ok && len(behaviors(field)) > 0 {
				t.Errorf("%s has the behavior %v", name, behaviors(field))
			}
		}
	})
	t.Run("a field is required if, and only if, its rules refuse its absence", func(t *testing.T) {
		for name, field := range requests {
			// These are validated one by one, because an invalid one must not affect the others.
			if strings.HasPrefix(name, "BenchmarkSample.") || strings.HasPrefix(name, "ContainerUsage.") {
				continue
			}
			said := slices.Contains(behaviors(field), annotations.FieldBehavior_REQUIRED)
			if said != refusesAbsence(field) {
				t.Errorf("%s: REQUIRED is %v, but its rules refuse its absence: %v", name, said, refusesAbsence(field))
			}
		}
	})
}

// refusesAbsence reports whether the rules of a field refuse a message without it.
func refusesAbsence(field protoreflect.FieldDescriptor) bool {
	if field.ContainingOneof() != nil && !field.HasOptionalKeyword() {
		return false // It is one of several.
	}
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	switch {
	case rules.GetRequired():
		return true
	case rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE || field.HasPresence():
		return false
	}
	return rules.GetString().GetMinLen() > 0 || rules.GetRepeated().GetMinItems() > 0 || slices.Contains(rules.GetEnum().GetNotIn(), 0)
}

// besidePages are the lists in responses of List methods that are not the page. They are bounded by
// the configuration of the server.
var besidePages = []string{"ListRatiosResponse.sources"}

func TestLists(t *testing.T) {
	lists := 0
	for _, m := range methods {
		if !strings.HasPrefix(string(m.Name()), "List") {
			continue
		}
		lists++
		t.Run(string(m.Name())+" is paged", func(t *testing.T) {
			size, token, next := field(m.Input(), "page_size"), field(m.Input(), "page_token"), field(m.Output(), "next_page_token")
			if size == nil || size.Kind() != protoreflect.Int32Kind || size.HasPresence() {
				t.Error("the request has no int32 page_size")
			}
			for _, token := range []protoreflect.FieldDescriptor{token, next} {
				if token == nil || token.Kind() != protoreflect.StringKind || token.HasPresence() {
					t.Error("the request has no string page_token, or the response no string next_page_token")
				}
			}
			var pages []string
			for field := range fieldsOf(m.Output()) {
				if (field.IsList() || field.IsMap()) && !slices.Contains(besidePages, nameOf(field)) {
					pages = append(pages, nameOf(field))
				}
			}
			if len(pages) != 1 || field(m.Output(), protoreflect.Name(strings.SplitN(pages[0], ".", 2)[1])).Number() != 1 {
				t.Errorf("the pages are %q; the first field must be the only one", pages)
			}
		})
	}
	if lists < 9 {
		t.Errorf("only %d List methods were checked", lists)
	}
	t.Run("a page size has no maximum, because larger ones are capped", func(t *testing.T) {
		for name, field := range requests {
			rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
			if field.Name() == "page_size" && rules.GetInt32().GetLessThan() != nil {
				t.Errorf("%s has a maximum", name)
			}
		}
	})
}

// retryable are the methods that write and need no request_id, and why a second request does no harm.
var retryable = map[string]string{
	"Resume":           "it ends the holds that the first one has left, which are none",
	"Freeze":           "it stores the same freeze again",
	"Unfreeze":         "it ends nothing if the first one has ended the freeze",
	"IngestSamples":    "each sample has an id",
	"ClaimMeasurement": "a node has at most one claim",
	"ReportUsage":      "no time counts twice",
}

func TestWrites(t *testing.T) {
	found := map[string]bool{}
	for _, m := range methods {
		in, name := m.Input(), string(m.Name())
		if !writes(m) {
			for _, only := range []protoreflect.Name{"author", "validate_only", "request_id"} {
				if field(in, only) != nil {
					t.Errorf("%s reads, but has %s", in.Name(), only)
				}
			}
			continue
		}
		found[name] = true
		if f := field(in, "validate_only"); f == nil || f.Kind() != protoreflect.BoolKind {
			t.Errorf("%s writes, but has no bool validate_only", in.Name())
		}
		_, safe := retryable[name]
		id := field(in, "request_id")
		if safe != (id == nil) {
			t.Errorf("%s: request_id is %v, and retryable has it: %v", in.Name(), id, safe)
		}
		if id != nil {
			if rules, _ := proto.GetExtension(id.Options(), validate.E_Field).(*validate.FieldRules); !rules.GetString().GetUuid() {
				t.Errorf("%s has a request_id that need not be a UUID", in.Name())
			}
		}
	}
	for name := range retryable {
		if !found[name] {
			t.Errorf("%s is not a method that writes", name)
		}
	}
	if len(found) < 10 {
		t.Errorf("only %d methods write", len(found))
	}
}

// numbers are the numbers without presence, by the reason why their absence and 0 need not differ.
var numbers = map[string]string{
	"0 means no multiple, as the field says": `SizeRules.memory_limit_multiple`,
	"0 stands for the default": `ListBenchmarksRequest.page_size ListEntriesRequest.page_size ListFeedsRequest.page_size ListHoldsRequest.page_size ListNodesRequest.page_size ListOverrideChangesRequest.page_size
		ListOverridesRequest.page_size ListRatioRulesRequest.page_size ListRatiosRequest.page_size ListRecommendationsRequest.page_size ListResizesRequest.page_size ListSavingsRequest.page_size ListSuggestionsRequest.page_size
		ListWorkloadsRequest.page_size`,
	"it is required, and 0 is invalid": `BenchmarkSample.score BenchmarkSample.threads BenchmarkSample.vcpus ClaimMeasurementRequest.vcpus`,
	"a count that is always known, so that absent is 0": `Benchmark.machines Benchmark.outliers Benchmark.samples Benchmark.spot_checks Benchmark.vcpus ClaimMeasurementResponse.machines ClaimMeasurementResponse.wanted_machines Explanation.pods Feed.bad Feed.rows Feed.samples Feed.skipped
		GetStatusResponse.emergency_restores GetStatusResponse.eviction_backlog GetStatusResponse.freed_backlog GetStatusResponse.holds GetStatusResponse.namespace_breakers GetStatusResponse.overloaded_nodes GetStatusResponse.queue_length GetStatusResponse.realign_backlog GetStatusResponse.workload_breakers GetUsageStatusResponse.containers GetUsageStatusResponse.recommendations HoldProgress.blocked HoldProgress.done HoldProgress.pending HoldProgress.pods
		ImpactGroup.by_usage ImpactGroup.pods ImpactGroup.vetoed IngestSamplesResponse.known IngestSamplesResponse.old IngestSamplesResponse.rejected IngestSamplesResponse.stored JournalEntry.count JournalEntry.pods MeasuredNodeType.samples NodeSummary.pods NodeSummary.unknown_pods NodeTypeHistory.samples NodeTypeWithoutRatio.nodes NodeTypeWithoutRatio.pods
		PlanProgress.done PlanProgress.total PlanSummary.aligned PlanSummary.pods PlanSummary.resize PlanSummary.skip PodCount.pods ProductionSuggestion.hours ProductionSuggestion.nodes ProductionSuggestion.workloads ReportUsageResponse.accepted ReportUsageResponse.rejected ResumeResponse.nested Savings.pods
		SampleError.index SizeOnNodeType.pods Suggestion.machines Suggestion.samples SuggestionModel.machines SuggestionPart.baseline_machines SuggestionPart.baseline_samples
		SuggestionPart.machines SuggestionPart.samples SuggestionProgress.confirmed_windows SuggestionProgress.needed_windows
		UsageError.index UsageShard.bytes UsageShard.containers UsageSource.counted UsageSource.rejected UsageSource.waiting UsageStorage.bytes UsageSums.pods UsageSums.unknown_pods WorkloadSummary.throttled`,
	"it is always known, because its message is absent otherwise": `Benchmark.median Benchmark.spread FeedFault.line ListRatiosResponse.max_speed_ratio OverrideValue.cpu_perf
		MeasuredNodeType.throttled RatioContradiction.ratio OverrideValue.memory_perf Ratio.cpu_factor Ratio.cpu_perf Ratio.memory_factor Ratio.memory_perf RatioCandidate.cpu_perf RatioCandidate.memory_perf
		RatioInterval.confidence RatioInterval.high RatioInterval.low SuggestionEnds.all_threads SuggestionEnds.one_thread SuggestionPart.ratio SuggestionPart.weight SuggestionProgress.target WorkloadRatio.ratio
		RecommendedSize.cpu_confidence RecommendedSize.memory_confidence UsageBucket.from UsageBucket.share UsageBucket.to`,
}

func TestNumbers(t *testing.T) {
	reviewed := map[string]bool{}
	for _, names := range numbers {
		for _, name := range strings.Fields(names) {
			reviewed[name] = false
		}
	}
	for name, field := range all() {
		switch field.Kind() {
		case protoreflect.BoolKind, protoreflect.StringKind, protoreflect.BytesKind, protoreflect.EnumKind, protoreflect.MessageKind, protoreflect.GroupKind:
			continue
		}
		if field.HasPresence() {
			continue
		}
		if _, ok := reviewed[name]; !ok {
			t.Errorf("%s is not optional: make it so, or say in this test why its absence and 0 need not differ", name)
		}
		reviewed[name] = true
	}
	for name, used := range reviewed {
		if !used {
			t.Errorf("%s is not a number without presence", name)
		}
	}
}

func TestNames(t *testing.T) {
	types := map[protoreflect.FullName]func(protoreflect.Name) bool{
		"google.protobuf.Timestamp": func(n protoreflect.Name) bool { return strings.HasSuffix(string(n), "_time") },
		"google.protobuf.Duration":  func(n protoreflect.Name) bool { return n == "ttl" || strings.HasSuffix(string(n), "_duration") },
		"google.protobuf.FieldMask": func(n protoreflect.Name) bool { return n == "update_mask" },
	}
	for name, field := range all() {
		var of protoreflect.FullName
		if field.Message() != nil {
			of = field.Message().FullName()
		}
		for typ, named := range types {
			if named(field.Name()) != (of == typ) {
				t.Errorf("%s has the name or the type of a %s, but not both", name, typ)
			}
		}
		for _, bad := range []string{"hidden_", "is_", "has_"} {
			if strings.HasPrefix(string(field.Name()), bad) {
				t.Errorf("%s begins with %s", name, bad)
			}
		}
		if field.Kind() == protoreflect.StringKind && strings.HasSuffix(string(field.Name()), "_number") {
			t.Errorf("%s is a number in a string", name)
		}
	}
	for _, m := range methods {
		service, name := m.Parent().Name(), m.Name()
		if in, out := m.Input().Name(), m.Output().Name(); in != name+"Request" || out != name+"Response" {
			t.Errorf("%s.%s takes %s and returns %s", service, name, in, out)
		}
	}
}
