#include "lockstep/config/sections.hpp"

#include <gtest/gtest.h>

#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

Value with(std::string_view text, const std::vector<std::string>& overrides) {
  Value root = parse_toml(text, "a.toml");
  apply_overrides(root, overrides);
  return root;
}

std::string message_of(const std::vector<std::string>& overrides) {
  try {
    with("[train]\nbatch = 3\noptimizer = \"adam\"\n", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Overrides, ReplaceAndAddKeys) {
  const Value root = with("[train]\nepochs = 1\n", {"train.epochs=5", "data.source=moons"});
  EXPECT_EQ(std::get<std::int64_t>(root.find("train")->find("epochs")->data), 5);
  EXPECT_EQ(root.find("train")->find("epochs")->origin, "--set train.epochs=5");
  EXPECT_EQ(*root.find("data")->find("source")->string(), "moons");
}

TEST(Overrides, TheLastOneWins) {
  const Value root = with("", {"train.seed=1", "train.seed=2"});
  EXPECT_EQ(std::get<std::int64_t>(root.find("train")->find("seed")->data), 2);
}

TEST(Overrides, ReachIntoTablesAndNames) {
  const Value deep = with("[train]\noptimizer = {name = \"sgd\", lr = 1}\n", {"train.optimizer.lr=0.5"});
  EXPECT_EQ(std::get<double>(deep.find("train")->find("optimizer")->find("lr")->data), 0.5);
  const Value named = with("[train]\noptimizer = \"adam\"\n", {"train.optimizer.lr=0.5"});
  EXPECT_EQ(*named.find("train")->find("optimizer")->find("name")->string(), "adam");
  EXPECT_EQ(std::get<double>(named.find("train")->find("optimizer")->find("lr")->data), 0.5);
}

TEST(Overrides, AnEqualsSignMayStandInTheValue) {
  EXPECT_EQ(*with("", {"data.source=a=b"}).find("data")->find("source")->string(), "a=b");
}

TEST(Overrides, WhatIsNoAssignmentIsRefused) {
  const std::string hint = ": write --set section.key=value, for example --set train.epochs=3";
  EXPECT_EQ(message_of({"train.epochs"}), "--set train.epochs" + hint);
  EXPECT_EQ(message_of({"epochs=3"}), "--set epochs=3" + hint);
  EXPECT_EQ(message_of({"=3"}), "--set =3" + hint);
  EXPECT_EQ(message_of({"train.=3"}), "--set train.=3" + hint);
  EXPECT_EQ(message_of({"train..epochs=3"}), "--set train..epochs=3" + hint);
  EXPECT_EQ(message_of({"a.b.c.d.e.f.g.h.i=3"}), "--set a.b.c.d.e.f.g.h.i=3" + hint);
  EXPECT_EQ(message_of({"train.epochs="}), "--set train.epochs=: a value is missing after the equals sign");
  EXPECT_EQ(message_of({"train.batch.size=3"}),
            "--set train.batch.size=3: batch is a whole number, which has no keys; set it as a whole");
}

}  // namespace
}  // namespace lockstep
