package benchmarks

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

const (
	// maxIDBytes and maxFaultBytes limit what is returned about a wrong sample, which may be
	// as large as a message.
	maxIDBytes, maxFaultBytes = sample.MaxIDBytes, 512
)

// sampleFault is why a sample is rejected.
type sampleFault struct {
	code           workloadresizerv1.SampleErrorCode
	field, message string
}

func invalidSample(field, format string, args ...any) *sampleFault {
	return &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_INVALID, field, fmt.Sprintf(format, args...)}
}

// sample reads a sample, or returns its fault. The error is one of the call: the types of
// nodes are not known yet.
func (s *Service) sample(m *workloadresizerv1.BenchmarkSample, by access.Caller, now time.Time) (sample.Sample, *sampleFault, error) {
	made := sample.Sample{
		ID: m.GetId(), NodeType: m.GetNodeType(), InstanceType: m.GetInstanceType(), CPUModel: m.GetCpuModel(),
		Benchmark: m.GetBenchmark(), Version: m.GetVersion(), Score: m.GetScore(), Unit: m.GetUnit(),
		VCPUs: int(m.GetVcpus()), ThreadsPerCore: int(m.GetThreadsPerCore()), Threads: int(m.GetThreads()), SingleThread: m.GetSingleThreadScore(), Runs: int(m.GetRuns()),
		Machine: m.GetMachine(), Source: cmp.Or(m.GetSource(), sample.SourceImport), Spot: m.GetSpotCheck(),
		OtherLoad: m.GetOtherLoad(),
	}
	switch {
	case m.SingleThreadScore != nil && m.GetSingleThreadScore() == 0:
		return made, invalidSample("single_thread_score", "must be above 0, or absent if it was not measured"), nil
	case m.Runs != nil && m.GetRuns() == 0:
		return made, invalidSample("runs", "must be above 0, or absent for 1"), nil
	}
	if t := m.GetMeasureTime(); t != nil {
		if err := t.CheckValid(); err != nil {
			return made, invalidSample("measure_time", "is not a valid time: %v", err), nil
		}
		made.Time = t.AsTime()
	}
	node, bound := by.Node()
	if bound {
		if wrong := boundFault(m, node); wrong != nil {
			return made, wrong, nil
		}
		made.Source = sample.SourceAgent
	}
	wrong, err := s.identify(&made, m.GetNode(), bound)
	if wrong == nil && err == nil {
		wrong = faultOf(made.Validate(now))
	}
	if bound {
		made.ID = idOfNode(node, made.ID)
	}
	return made, wrong, err
}

// identify sets the node type of a sample. If the caller is bound to the node, the labels of
// the node take precedence.
func (s *Service) identify(made *sample.Sample, node string, bound bool) (*sampleFault, error) {
	switch {
	case node != "":
		if made.NodeType != "" || made.InstanceType != "" {
			return invalidSample("node", "must not be set together with node_type or instance_type: the labels of the node determine the type"), nil
		}
		return s.identifyNode(made, node, bound)
	case made.NodeType != "":
	case made.InstanceType != "":
		if made.NodeType = s.config.Benchmarks.NodeType(made.InstanceType); made.NodeType == "" {
			return invalidSample("instance_type", "%q does not determine a node type: also set node_type", made.InstanceType), nil
		}
	default:
		return invalidSample("node_type", "must be set, unless node or instance_type is set"), nil
	}
	return nil, nil
}

// identifyNode sets what the labels of the node determine.
func (s *Service) identifyNode(made *sample.Sample, node string, bound bool) (*sampleFault, error) {
	machine, found, err := s.config.Reconciler.Machine(node)
	switch {
	case err != nil:
		return nil, translate.Error(err)
	case !found:
		return &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN, "node",
			fmt.Sprintf("%q is not known; if the node is new, send the sample again later", node)}, nil
	}
	made.Machine, made.NodeType = node, machine.NodeType
	if bound {
		made.CPUModel = cmp.Or(machine.CPUModel, made.CPUModel)
	} else {
		made.CPUModel = cmp.Or(made.CPUModel, machine.CPUModel)
	}
	if machine.Label == nodetype.LabelInstanceType && !machine.Known {
		// As for published results, so that both are measurements of the same type.
		made.InstanceType, made.NodeType = machine.NodeType, s.config.Benchmarks.NodeType(machine.NodeType)
	}
	if made.NodeType == "" {
		return invalidSample("node", "%q has no label that determines its type", node), nil
	}
	return nil, nil
}

// sampleFields maps fields of a sample to fields of a message, where their names differ.
var sampleFields = map[string]string{
	"nodeType": "node_type", "instanceType": "instance_type", "cpuModel": "cpu_model", "singleThread": "single_thread_score", "threadsPerCore": "threads_per_core", "otherLoad": "other_load", "time": "measure_time",
}

// faultOf combines all faults into one, nil if there are none.
func faultOf(faults []sample.Fault) *sampleFault {
	var messages []string
	for i, f := range faults {
		if name, ok := sampleFields[f.Field]; ok {
			faults[i].Field = name
		}
		messages = append(messages, faults[i].Error())
	}
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return invalidSample(faults[0].Field, "%s", faults[0].Reason)
	}
	return invalidSample("", "%s", strings.Join(messages, "; "))
}

// clip truncates text to a number of bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
