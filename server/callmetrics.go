package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// callMetrics are the library's metrics of calls. The library looks up five of them by their
// labels in each unary call. Here, these are looked up once per method.
type callMetrics struct {
	*grpcprom.ServerMetrics
	// methods has the metrics of each method of the server by its full name.
	methods map[string]*methodMetrics
}

// methodMetrics are the metrics of one method.
type methodMetrics struct {
	started, received, sent prometheus.Counter
	// handled has a counter for each code.
	handled [codes.Unauthenticated + 1]prometheus.Counter
	seconds prometheus.Observer
}

func newCallMetrics() *callMetrics {
	return &callMetrics{ServerMetrics: grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram()), methods: map[string]*methodMetrics{}}
}

// initialize creates the metrics of all methods that a server offers, which must not be serving yet.
func (m *callMetrics) initialize(server *grpc.Server) {
	m.InitializeMetrics(offered{server})
	collected := make(chan prometheus.Metric)
	go func() {
		m.Collect(collected)
		close(collected)
	}()
	for metric := range collected {
		m.remember(metric)
	}
}

// remember adds a metric to those of its method.
func (m *callMetrics) remember(metric prometheus.Metric) {
	var content dto.Metric
	if err := metric.Write(&content); err != nil {
		panic(fmt.Sprintf("a metric of calls cannot be written: %v", err)) // It has no value yet.
	}
	labels := map[string]string{}
	for _, label := range content.GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	method := "/" + labels["grpc_service"] + "/" + labels["grpc_method"]
	of := m.methods[method]
	if of == nil {
		of = &methodMetrics{}
		m.methods[method] = of
	}
	if seconds, ok := metric.(prometheus.Observer); ok {
		of.seconds = seconds
		return
	}
	counter := metric.(prometheus.Counter)
	if code, ok := labels["grpc_code"]; ok {
		for at := range of.handled {
			if codes.Code(at).String() == code {
				of.handled[at] = counter
			}
		}
		return
	}
	// The library keeps its metrics to itself, so only their descriptions tell them apart.
	for name, into := range map[string]*prometheus.Counter{
		`"grpc_server_started_total"`: &of.started, `"grpc_server_msg_received_total"`: &of.received, `"grpc_server_msg_sent_total"`: &of.sent,
	} {
		if strings.Contains(metric.Desc().String(), name) {
			*into = counter
		}
	}
}

// unary counts and times a call as the library does.
func (m *callMetrics) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	of := m.methods[info.FullMethod]
	began := time.Now()
	of.started.Inc()
	of.received.Inc()
	response, err := handler(ctx, request)
	if err == nil {
		of.sent.Inc()
	}
	of.handled[known(grpcprom.FromError(err).Code())].Inc()
	of.seconds.Observe(time.Since(began).Seconds())
	return response, err
}

// known returns a code, or Unknown for one that gRPC does not define.
func known(code codes.Code) codes.Code {
	if code > codes.Unauthenticated {
		return codes.Unknown
	}
	return code
}
