package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// Files names files of PEM.
type Files struct {
	// Certificate and PrivateKey are the server's.
	Certificate, PrivateKey string
	// GetCertificate gives the server's certificate in place of these two.
	GetCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// ClientCA has the authorities of client certificates; without it none are
	// asked for.
	ClientCA string
}

// Source reads the files again when connections begin, but not more often than
// once a period. It is safe for concurrent use.
//
// It is not grpc-go's pemfile, which does not say that a new file is broken, puts
// the private key into the log where it would, and wants both files in one
// directory.
type Source struct {
	files  Files
	period time.Duration

	mu      sync.Mutex
	read    time.Time
	good    *tls.Config
	problem error
}

// New reads the files. The error is that they cannot be used.
func New(files Files, period time.Duration) (*Source, error) {
	s := &Source{files: files, period: period, read: time.Now()}
	var err error
	s.good, err = files.load()
	return s, err
}

// Config returns a configuration that stays as the files are.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

// current returns what the files say, or said when they last were good.
func (s *Source) current() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) < s.period {
		return s.good
	}
	s.read = time.Now()
	fresh, err := s.files.load()
	if err != nil {
		// Not for every connection.
		if s.problem == nil || s.problem.Error() != err.Error() {
			klog.Background().Error(err, "New TLS files cannot be used, the last good ones stay in force")
		}
		s.problem = err
		return s.good
	}
	s.good, s.problem = fresh, nil
	return s.good
}

// Ready is nil: New has read the files.
func (s *Source) Ready() error { return nil }

// Problem returns why the files cannot be used and the last good ones are in force,
// nil if they can.
func (s *Source) Problem() error {
	s.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Expiry is when the certificate of the files expires; zero if they have none.
func (s *Source) Expiry() time.Time {
	config := s.current()
	if len(config.Certificates) == 0 {
		return time.Time{}
	}
	return config.Certificates[0].Leaf.NotAfter
}

func (f *Files) load() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: f.GetCertificate,
		// Each connection is verified by the authorities of its time, and they
		// live too long for tickets to matter.
		SessionTicketsDisabled: true,
	}
	if f.GetCertificate == nil {
		pair, err := tls.LoadX509KeyPair(f.Certificate, f.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("read the TLS certificate %s and its key %s: %w", f.Certificate, f.PrivateKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if f.ClientCA == "" {
		return config, nil
	}
	authorities, err := os.ReadFile(f.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read the client authorities: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("read the client authorities %s: no certificate in it", f.ClientCA)
	}
	return config, nil
}
