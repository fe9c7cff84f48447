// Package stored reads and writes evidence in a compact form: at most 200 bytes per workload. Weights
// have 8 significant bits, those of pairs of types and variances are within 3%, cores within 4%, and differences are rounded to 1/4096, far less than
// any of them is certain.
//
// The first byte is the version of the form. The two versions before are read, too. Others are rejected, so that nothing is misread: evidence
// is collected again within days.
//
// It must not know where the bytes are kept, nor what evidence means beyond what makes it valid.
package stored
