/// MoleculeNet: properties of a molecule from its graph of atoms and bonds.
///
/// message_passing (Gilmer et al., 2017, with the gated units of Li et al., 2016): h_v starts as the embedding of the
/// kind of atom v, plus its features times a matrix if there are any. In each round
///   m_v = sum over the bonds to neighbours u of h_u A_k, with a matrix A_k per kind k of bond;   h_v = GRU(m_v, h_v)
/// and the answer is (sum over v of h_v) w + b. With the readout "mean",
/// it is relu((mean over v of h_v) M + m) w + b.
///
/// weave (Kearnes et al., 2016): atoms a_v and pairs p_uv of atoms, at most two bonds apart, have states. In each round
///   a_v' = relu([relu(a_v W_aa), sum over u of relu(p_uv W_pa)] W_a)
///   p_uv' = relu([relu([a_u, a_v] W_ap) + relu([a_v, a_u] W_ap), relu(p_uv W_pp)] W_p)
/// and the answer is linear in tanh(a_v W_o), summed over the atoms. A pair starts as the embedding of its kind of
/// bond, or of "two bonds apart". All products have biases.
///
/// Differences: Gilmer et al. have edge networks, a master node and set2set beside these choices. Kearnes et al. read
/// out by Gaussian histograms, and have further features of pairs.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"

namespace espalier::models {

struct ESPALIER_EXPORT MoleculeSettings {
  std::string network = "message_passing";
  std::string readout = "sum";  // or "mean"
  std::int32_t hidden = 64;
  std::int32_t rounds = 4;
  double dropout = 0;  // of the sum over the atoms

  void list(SettingList& list);
};

struct MoleculeCounts {
  std::int32_t atoms = 0;     // kinds
  std::int32_t bonds = 0;     // kinds
  std::int32_t features = 0;  // per atom
  std::int32_t targets = 1;
};

class ESPALIER_EXPORT MoleculeNet {
 public:
  MoleculeNet(Model& model, const MoleculeSettings& settings, const MoleculeCounts& counts);
  ~MoleculeNet();

  /// A number per target: [targets]. Refuses (UsageError) a molecule without atoms.
  Expr output(Graph& graph, const Molecule& molecule) const;
  /// The squared distance to the targets that are not NaN; one element.
  static Expr regression_loss(const Expr& output, std::span<const float> targets);
  /// The binary cross entropy of the outputs as logits, summed over the targets (0 or 1) that are not NaN.
  static Expr classification_loss(const Expr& output, std::span<const float> targets);

  /// What computes the sum over the atoms.
  class Network;

 private:
  MoleculeSettings settings_;
  std::unique_ptr<const Network> network_;
  nn::Linear readout_;
  std::optional<nn::Linear> middle_;  // before readout_
};

}  // namespace espalier::models
